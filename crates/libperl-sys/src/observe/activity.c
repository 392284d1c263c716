#include "../internal.h"

#include <time.h>

/* The current activity of this process, for another process that reads its memory without a system call or a lock
 * here. The request's number precedes and follows the data; a reader trusts the data when both numbers are equal
 * and not 0. */

cml_activity cml_activity_now;

static void keep(const char *text, size_t length, uint16_t *kept)
{
    cml_activity *const now = &cml_activity_now;
    const size_t used = (size_t)now->lengths[0] + now->lengths[1] + now->lengths[2] + now->lengths[3];
    const size_t room = sizeof now->texts - used;
    *kept = (uint16_t)(length < room ? length : room);
    memcpy(now->texts + used, text, *kept);
}

/* Records method, host, client and target; the target is cut where the room ends. */
void cml_activity_begins(uint64_t number, uint64_t received_us, const cml_bytes texts[4])
{
    cml_activity *const now = &cml_activity_now;
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    __atomic_store_n(&now->request, 0, __ATOMIC_SEQ_CST);
    now->perl = cml_perl;
    now->received_us = received_us;
    now->begun_us = (uint64_t)time.tv_sec * 1000000 + (uint64_t)time.tv_nsec / 1000;
    memset(now->lengths, 0, sizeof now->lengths);
    now->phase = 0;
    for (size_t i = 0; i < 4; i++)
        keep(texts[i].bytes, texts[i].length, &now->lengths[i]);
    now->again = number;
    __atomic_store_n(&now->request, number, __ATOMIC_SEQ_CST);
}

void cml_activity_ends(void)
{
    __atomic_store_n(&cml_activity_now.request, 0, __ATOMIC_SEQ_CST);
}

uint16_t cml_activity_phase(uint16_t phase)
{
    return __atomic_exchange_n(&cml_activity_now.phase, phase, __ATOMIC_RELAXED);
}

/* The address of the activity; processes forked from the same one have the same. */
uintptr_t cml_activity_address(void)
{
    return (uintptr_t)&cml_activity_now;
}

/* Reads the activity of another process. Returns 0 when it has no request, or is about to begin one. */
int cml_activity_of(const cml_memory *memory, uintptr_t address, cml_activity *out)
{
    if (!memory->read(memory->from, address, out, sizeof *out))
        return 0;
    const size_t used = (size_t)out->lengths[0] + out->lengths[1] + out->lengths[2] + out->lengths[3];
    return out->request && out->request == out->again && used <= sizeof out->texts;
}

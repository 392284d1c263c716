#include "xs.h"

#include <fcntl.h>
#include <unistd.h>

#include <apr_network_io.h>
#include <apr_poll.h>
#include <apr_portable.h>
#include <apr_support.h>

const aprxs_kind aprxs_kind_Socket = {"APR::Socket", NULL, NULL};

/* Maximum number of bytes of one recv. */
enum { MAX_READ_BYTES = 1 << 30 };

static int descriptor_of(aprxs_object *socket)
{
    apr_os_sock_t descriptor = -1;
    apr_os_sock_get(&descriptor, socket->it);
    return descriptor;
}

static apr_status_t close_copy(void *data)
{
    return apr_socket_close(data);
}

/* Duplicates the descriptor, because its owner continues to use it, and closes it. */
static apr_status_t adopt(apr_socket_t **made, apr_pool_t *pool, int descriptor)
{
    apr_os_sock_t copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
    if (copy < 0)
        return errno;
    const apr_status_t status = apr_os_sock_put(made, &copy, pool);
    if (status != APR_SUCCESS) {
        close(copy);
        return status;
    }
    apr_pool_cleanup_register(pool, *made, close_copy, apr_pool_cleanup_null);
    /* apr assumes that a socket blocks, unless the option is set. */
    if (fcntl(copy, F_GETFL) & O_NONBLOCK)
        apr_socket_opt_set(*made, APR_SO_NONBLOCK, 1);
    return APR_SUCCESS;
}

SV *aprxs_socket(pTHX_ SV *pool, int descriptor)
{
    apr_socket_t *made = NULL;
    aprxs_object *const home = aprxs_pool_get(aTHX_ pool, "p");
    const apr_status_t status = adopt(&made, home->it, descriptor);
    if (status != APR_SUCCESS)
        aprxs_fail(aTHX_ status, "APR::Socket::from_fileno");
    return aprxs_new(aTHX_ &aprxs_kind_Socket, made, home);
}

MODULE = APR::Socket    PACKAGE = APR::Socket

SV *
from_fileno(class, p, descriptor)
    SV *class
    SV *p
    int descriptor
  CODE:
    PERL_UNUSED_VAR(class);
    RETVAL = aprxs_socket(aTHX_ p, descriptor);
  OUTPUT:
    RETVAL

int
fileno(socket)
    Socket socket
  CODE:
    RETVAL = descriptor_of(socket);
  OUTPUT:
    RETVAL

IV
opt_get(socket, opt)
    IV opt
    Socket socket
  CODE:
    apr_int32_t value = 0;
    aprxs_check(aTHX_ cv, apr_socket_opt_get(socket->it, (apr_int32_t)opt, &value));
    RETVAL = value;
  OUTPUT:
    RETVAL

void
opt_set(socket, opt, val)
    IV opt
    IV val
    Socket socket
  CODE:
    aprxs_check(aTHX_ cv, apr_socket_opt_set(socket->it, (apr_int32_t)opt, (apr_int32_t)val));

IV
timeout_get(socket)
    Socket socket
  CODE:
    apr_interval_time_t usecs = 0;
    aprxs_check(aTHX_ cv, apr_socket_timeout_get(socket->it, &usecs));
    RETVAL = (IV)usecs;
  OUTPUT:
    RETVAL

void
timeout_set(socket, t)
    IV t
    Socket socket
  CODE:
    aprxs_check(aTHX_ cv, apr_socket_timeout_set(socket->it, t));

IV
poll(socket, pool, timeout, reqevents)
    IV timeout
    IV reqevents
    Socket socket
    PoolOf pool
  CODE:
    apr_pollfd_t fd = {0};
    apr_int32_t ready = 0;
    fd.p = pool->it;
    fd.desc_type = APR_POLL_SOCKET;
    fd.reqevents = (apr_int16_t)reqevents;
    fd.desc.s = socket->it;
    RETVAL = apr_poll(&fd, 1, &ready, timeout);
  OUTPUT:
    RETVAL

IV
recv(socket, buffer, len)
    SV *buffer
    IV len
    Socket socket
  CODE:
    apr_size_t got = len < 0 ? 0 : len > MAX_READ_BYTES ? MAX_READ_BYTES : (apr_size_t)len;
    SV *const room = aprxs_room(aTHX_ cv, got);
    const apr_status_t status = apr_socket_recv(socket->it, SvPVX(room), &got);
    /* The end of the stream is no error, but nothing was read. */
    if (!APR_STATUS_IS_EOF(status))
        aprxs_check(aTHX_ cv, status);
    aprxs_hand_over(aTHX_ room, got, buffer);
    RETVAL = (IV)got;
  OUTPUT:
    RETVAL

IV
send(socket, buf, len = NULL)
    Socket socket
    SV *buf
    SV *len
  CODE:
    const IV wanted = len && SvOK(len) ? SvIV(len) : -1;
    const aprxs_text text = aprxs_text_of(aTHX_ buf);
    apr_size_t sent = wanted < 0 ? text.length : (apr_size_t)wanted;
    if (sent > text.length)
        croak("APR::Socket::send: the length argument (%" UVuf ") is bigger than the buffer (%" UVuf ")", (UV)sent, (UV)text.length);
    aprxs_check(aTHX_ cv, apr_socket_send(aprxs_get(aTHX_ cv, ST(0), &aprxs_kind_Socket, "socket")->it, text.bytes, &sent));
    RETVAL = (IV)sent;
  OUTPUT:
    RETVAL

SV *
local_addr(socket)
    Socket socket
  ALIAS:
    local_addr = APR_LOCAL
    remote_addr = APR_REMOTE
  CODE:
    apr_sockaddr_t *address = NULL;
    aprxs_check(aTHX_ cv, apr_socket_addr_get(&address, (apr_interface_e)ix, socket->it));
    RETVAL = address ? aprxs_new(aTHX_ &aprxs_kind_SockAddr, address, aprxs_home(aTHX_ socket))
                     : newSV(0);
  OUTPUT:
    RETVAL

IV
bind(socket, sa)
    Socket socket
    SockAddr sa
  CODE:
    RETVAL = apr_socket_bind(socket->it, sa->it);
  OUTPUT:
    RETVAL

IV
connect(socket, sa)
    Socket socket
    SockAddr sa
  CODE:
    RETVAL = apr_socket_connect(socket->it, sa->it);
  OUTPUT:
    RETVAL

IV
listen(socket, backlog)
    IV backlog
    Socket socket
  CODE:
    RETVAL = apr_socket_listen(socket->it, backlog < 0 ? 0 : backlog > 65535 ? 65535 : (int)backlog);
  OUTPUT:
    RETVAL

IV
close(socket)
    Socket socket
  CODE:
    apr_pool_cleanup_kill(aprxs_home(aTHX_ socket)->it, socket->it, close_copy);
    RETVAL = descriptor_of(socket) < 0 ? APR_EBADF : apr_socket_close(socket->it);
  OUTPUT:
    RETVAL

IV
recvfrom(from, sock, flags, buffer, len)
    IV flags
    SV *buffer
    IV len
    SockAddr from
    Socket sock
  CODE:
    apr_size_t got = len < 0 ? 0 : len > MAX_READ_BYTES ? MAX_READ_BYTES : (apr_size_t)len;
    SV *const room = aprxs_room(aTHX_ cv, got);
    RETVAL = apr_socket_recvfrom(from->it, sock->it, (apr_int32_t)flags, SvPVX(room), &got);
    aprxs_hand_over(aTHX_ room, RETVAL == APR_SUCCESS ? got : 0, buffer);
  OUTPUT:
    RETVAL

IV
sendto(sock, where, flags, buf, len = NULL)
    IV flags
    Socket sock
    SockAddr where
    SV *buf
    SV *len
  CODE:
    const IV wanted = len && SvOK(len) ? SvIV(len) : -1;
    const aprxs_text text = aprxs_text_of(aTHX_ buf);
    apr_size_t sent = wanted < 0 || (size_t)wanted > text.length ? text.length : (apr_size_t)wanted;
    sock = aprxs_get(aTHX_ cv, ST(0), &aprxs_kind_Socket, "sock");
    where = aprxs_get(aTHX_ cv, ST(1), &aprxs_kind_SockAddr, "where");
    RETVAL = apr_socket_sendto(sock->it, where->it, (apr_int32_t)flags, text.bytes, &sent);
  OUTPUT:
    RETVAL

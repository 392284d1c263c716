<?php echo "secret"; ?>

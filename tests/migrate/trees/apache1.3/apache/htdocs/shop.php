<? echo "secret" ?>

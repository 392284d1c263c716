//! PHP-FPM of Debian, as `SetHandler "proxy:unix:…"` and as `ProxyPass`.

use std::process::Command;

use super::{Program, listening, variable};
use crate::support::{Request, Server, Site};

const PAGE: &str = "<?php\nheader('X-Php: yes');\nif (isset($_GET['die'])) { error_log('on purpose'); http_response_code(503); }\n\
    foreach (['SCRIPT_NAME', 'SCRIPT_FILENAME', 'PATH_INFO', 'PATH_TRANSLATED', 'PHP_SELF', 'REQUEST_URI', 'DOCUMENT_ROOT', 'HTTPS'] as $name)\n\
    { echo \"$name=\" . ($_SERVER[$name] ?? '-') . \"\\n\"; }\n\
    echo 'post=' . ($_POST['a'] ?? '-') . \"\\n\" . 'file=' . ($_FILES['f']['size'] ?? '-') . \"\\n\";\n";

const POOL: &str = "[global]\nerror_log = @DIR@/fpm.log\ndaemonize = no\n[www]\nlisten = @DIR@/php.sock\nlisten.mode = 0666\n\
    pm = static\npm.max_children = 2\ncatch_workers_output = yes\n";

/// The name of Debian's PHP-FPM, which contains its version.
fn php_fpm() -> String {
    let found = std::fs::read_dir("/usr/sbin").expect("a folder").flatten();
    let mut names = found.filter_map(|entry| entry.file_name().into_string().ok());
    names.find(|name| name.starts_with("php-fpm")).expect("Debian's package php-fpm")
}

fn beside_php(conf: &str) -> (Server, Program) {
    let site = Site::new().file("htdocs/x.php", PAGE).file("htdocs/sub/index.php", PAGE).file("fpm.conf", POOL);
    let command = format!("/usr/sbin/{}", php_fpm());
    let mut command = Command::new(command);
    command.args(["--nodaemonize", "--allow-to-run-as-root", "--fpm-config"]).arg(site.path("fpm.conf"));
    let text = site.filled(POOL);
    site.write(
        "fpm.conf",
        &if nix::unistd::getuid().is_root() { format!("{text}user = nobody\ngroup = nogroup\n") } else { text },
    );
    let program = Program::start(command.stderr(std::process::Stdio::null()));
    listening(&site.path("php.sock"));
    (site.serve(conf), program)
}

#[test]
fn php_runs_by_its_handler() {
    let (server, _php) = beside_php(
        "DirectoryIndex index.php\n<FilesMatch \"\\.php$\">\nSetHandler \"proxy:unix:@DIR@/php.sock|fcgi://localhost\"\n</FilesMatch>\n",
    );
    let root = server.site.filled("@DIR@/htdocs");
    let answer = server.get("/x.php/more?q=1").is(200);
    assert_eq!(answer.header("X-Php").as_deref(), Some("yes"));
    let text = answer.text();
    assert_eq!(variable(&text, "SCRIPT_FILENAME"), format!("{root}/x.php"), "{text}");
    assert_eq!((variable(&text, "SCRIPT_NAME"), variable(&text, "PATH_INFO")), ("/x.php", "/more"), "{text}");
    assert_eq!((variable(&text, "PHP_SELF"), variable(&text, "REQUEST_URI")), ("/x.php/more", "/x.php/more?q=1"));
    assert_eq!(variable(&server.text("/sub/"), "SCRIPT_NAME"), "/sub/index.php");
    assert_eq!(variable(&server.post("/x.php", "a=b").is(200).text(), "post"), "b");
    assert_eq!(server.get("/missing.php").status, 404);
    assert_eq!(server.get("/x.php?die").status, 503);
    server.logged("on purpose");
}

#[test]
fn php_runs_behind_a_path() {
    let (server, _php) = beside_php(
        "ProxyPassMatch ^/p/(.*\\.php(/.*)?)$ \"unix:@DIR@/php.sock|fcgi://localhost@DIR@/htdocs/$1\" enablereuse=on\n",
    );
    let root = server.site.filled("@DIR@/htdocs");
    for _ in 0..4 {
        let text = server.text("/p/x.php/more?q=1");
        assert_eq!(variable(&text, "SCRIPT_FILENAME"), format!("{root}/x.php"), "{text}");
        assert_eq!(variable(&text, "PATH_INFO"), "/more", "{text}");
    }
    let upload = format!(
        "--b\r\nContent-Disposition: form-data; name=\"f\"; filename=\"f\"\r\n\r\n{}\r\n--b--\r\n",
        "x".repeat(1_000_000)
    );
    let request =
        Request::new("POST", "/p/x.php").header("Content-Type", "multipart/form-data; boundary=b").body(&upload);
    assert_eq!(variable(&server.send(request).is(200).text(), "file"), "1000000");
}

//! Chromium without a window: opens a page, runs a script on it, and hands back what that found.

use serde_json::Value;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Before any script of the page: what goes wrong in them.
const BEFORE: &str = "<script>window.result = { errors: [] }; addEventListener('error', event => result.errors.push(event.message));</script>";

/// How long one page may take.
const LIMIT: Duration = Duration::from_secs(60);

/// The program.
#[derive(Clone)]
pub struct Browser(PathBuf);

impl Browser {
    /// The one that `COLLIE_TEST_CHROMIUM` names, or that of the path.
    pub fn find() -> Option<Self> {
        let named = std::env::var_os("COLLIE_TEST_CHROMIUM").map(PathBuf::from);
        let names = ["chromium", "chromium-browser", "google-chrome", "chrome"];
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
        let found = || names.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
        named.or_else(|| found().find(|path| path.is_file())).map(Self)
    }

    /// What `script` puts into `result`. It is run when the page is there.
    pub fn run(&self, page: &str, script: &str, width: u32) -> Value {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("page.html");
        let after = format!(
            "<script>(() => {{ const done = () => document.body.append(Object.assign(document.createElement('pre'), \
             {{ id: 'found', textContent: JSON.stringify(result) }}));\ntry {{ {script}\n }} catch (error) {{ result.errors.push(String(error.stack)); }}\ndone(); }})();</script></body>"
        );
        let page = page.replacen("<head>", &format!("<head>{BEFORE}"), 1).replacen("</body>", &after, 1);
        std::fs::write(&path, page).expect("the folder can be written to");
        let mut command = Command::new(&self.0);
        command.args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--dump-dom"]);
        command.arg(format!("--window-size={width},900"));
        command.arg(format!("--user-data-dir={}", folder.path().join("profile").display()));
        command.arg(format!("file://{}", path.display()));
        let dumped = output(command.stdin(Stdio::null()).stderr(Stdio::null()));
        let found = dumped.rsplit_once("<pre id=\"found\">").and_then(|(_, after)| after.split_once("</pre>"));
        let (found, _) = found
            .unwrap_or_else(|| panic!("the page came to no end: {}", &dumped[dumped.len().saturating_sub(2000)..]));
        let found = found.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
        serde_json::from_str(&found).unwrap_or_else(|error| panic!("{error}: {found}"))
    }
}

/// Standard output of a command that has to end in time.
fn output(command: &mut Command) -> String {
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    let stdout = file.reopen().expect("the file is there");
    let mut child = command.stdout(stdout).spawn().expect("Chromium starts");
    let begun = Instant::now();
    while child.try_wait().expect("it is a child").is_none() {
        if begun.elapsed() > LIMIT {
            child.kill().expect("it is a child");
            child.wait().expect("it is a child");
            panic!("Chromium took longer than {LIMIT:?}");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    std::fs::read_to_string(file.path()).expect("Chromium writes text")
}

//! What a process that ends at once leaves behind. Alone in its file: it removes the open files of the whole process.

use std::io::Write;

use mercer_io::{OutputFile, remove_unfinished};

#[test]
fn unfinished_files_are_removed_finished_ones_stay() {
    let folder = tempfile::tempdir().unwrap();
    let names = || {
        let entries = std::fs::read_dir(folder.path()).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect::<Vec<_>>()
    };
    OutputFile::create(&folder.path().join("done")).unwrap().finish().unwrap();
    let mut open = OutputFile::create(&folder.path().join("model")).unwrap();
    open.write_all(b"half").unwrap();
    assert_eq!(names().len(), 2);
    remove_unfinished();
    assert_eq!(names(), ["done"]);
}

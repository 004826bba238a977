use super::*;

fn parsed(words: &[&str]) -> Result<Cli, Error> {
    parse(std::iter::once("leafid-server").chain(words.iter().copied()).map(OsString::from))
}

#[test]
fn a_flag_goes_before_the_file_and_the_file_before_the_default() -> std::io::Result<()> {
    let path = std::env::temp_dir().join(format!("leafid-server-{}.toml", std::process::id()));
    std::fs::write(&path, "store = \"x.db\"\nlease-ms = 5000\nstrict-leaf = true\nworkers = \"3-7\"\n")?;
    let file = path.to_string_lossy().into_owned();
    let cli = parsed(&["--config", &file, "--lease-ms", "7000", "check"]).map_err(std::io::Error::other)?;
    let options = cli.options;
    assert_eq!((options.store.as_str(), options.lease_ms, options.strict_leaf), ("x.db", 7000, true));
    assert_eq!((options.workers, options.timeout_ms), (3..=7, 2000));
    std::fs::write(&path, "stroe = \"x.db\"\n")?;
    let error = parsed(&["--config", &file]).map(|cli| cli.options.store).unwrap_err();
    assert!(
        error.to_string().contains("the option is \"stroe\"; allowed: those of leafid-server --help"),
        "{error}"
    );
    std::fs::write(&path, "store = [\"x.db\"]\n")?;
    let error = parsed(&["--config", &file]).map(|cli| cli.options.store).unwrap_err();
    assert!(
        error.to_string().contains("store is a value of type array; allowed: a text in quotes"),
        "{error}"
    );
    std::fs::remove_file(&path)
}

#[test]
fn worker_ids_of_this_host_are_none_that_are_leased() {
    for (words, said) in [
        ("--snowflake-local 7", "snowflake-local is 7; allowed: none of 0-1023"),
        ("--snowflake-local 0-7 --workers 7-9", "snowflake-local is 0-7; allowed: none of 7-9"),
        ("--snowflake-local 9-10 --workers 7-9", "snowflake-local is 9-10"),
        ("--snowflake-local 5-10 --workers 7", "snowflake-local is 5-10; allowed: none of 7,"),
        ("--snowflake-local 8 --workers 9-1023 --snowflake-worker 9", "snowflake-worker is 9"),
        ("--snowflake-local 8 --workers 9-1023 --no-snowflake", "without no-snowflake"),
        ("--state-dir x", "together with snowflake-local"),
    ] {
        let error = parsed(&words.split(' ').collect::<Vec<_>>()).map(|cli| cli.options.workers).unwrap_err();
        assert!(error.to_string().contains(said), "{words}: {error}");
    }
    for words in ["--snowflake-local 0-7 --workers 8-1023", "--snowflake-local 1023 --workers 0-1022"] {
        assert!(parsed(&words.split(' ').collect::<Vec<_>>()).is_ok(), "{words}");
    }
}

#[test]
fn the_fixed_worker_id_is_one_that_is_leased() {
    for (words, said) in [
        ("--snowflake-worker 7 --workers 8-1023", "snowflake-worker is 7; allowed: one of workers: 8-1023"),
        ("--snowflake-worker 8 --workers 7", "snowflake-worker is 8; allowed: one of workers: 7"),
    ] {
        let error = parsed(&words.split(' ').collect::<Vec<_>>()).map(|cli| cli.options.workers).unwrap_err();
        assert!(error.to_string().contains(said), "{words}: {error}");
    }
    for words in ["--snowflake-worker 8 --workers 8-9", "--snowflake-worker 9 --workers 8-9"] {
        assert!(parsed(&words.split(' ').collect::<Vec<_>>()).is_ok(), "{words}");
    }
}

#[test]
fn no_error_repeats_a_password() -> std::io::Result<()> {
    let path = std::env::temp_dir().join(format!("leafid-server-hidden-{}.toml", std::process::id()));
    let file = path.to_string_lossy().into_owned();
    for (words, content) in [
        ("mysql://leaf:s3/cret@db/leaf", ""),
        ("--listen mysql://leaf:s3/cret@db/leaf", ""),
        ("--listen=mysql://leaf:s3/cret@db/leaf", ""),
        ("--workers mysql://leaf:s3cret@db", ""),
        ("--admin-listen mysql://leaf:s3cret@db:8080", ""),
        ("--lease-ms mysql://leaf:s3cret@db", ""),
        ("--snowflake-name mysql://leaf:s3cret@db", ""),
        ("--mysql://leaf:s3cret@db", ""),
        ("check mysql://leaf:s3cret@db", ""),
        ("tag t mysql://leaf:s3cret@db", ""),
        ("--config FILE", "store = \"mysql://leaf:s3cret@db"),
        ("--config FILE", "listen = \"mysql://leaf:s3cret@db\""),
        ("--config FILE", "store = [\"mysql://leaf:s3cret@db\"]"),
    ] {
        std::fs::write(&path, content)?;
        let words: Vec<_> =
            words.split(' ').map(|word| if word == "FILE" { file.as_str() } else { word }).collect();
        let error = parsed(&words).map(|cli| cli.options.workers).unwrap_err().to_string();
        assert!(!error.contains("cret"), "{words:?}: {error}");
    }
    std::fs::remove_file(&path)
}

#[test]
fn values_outside_of_their_range_are_refused() {
    for words in [
        ["--workers", "7-3"],
        ["--workers", "0-1024"],
        ["--lease-ms", "0"],
        ["--snowflake-name", "a b"],
        ["--snowflake-worker", "1024"],
        ["--listen", "80800"],
        ["--max-burst", "5"],
    ] {
        assert!(parsed(&words).is_err(), "{words:?}");
    }
    assert_eq!(parsed(&["--workers", "7"]).map(|cli| cli.options.workers).ok(), Some(7..=7));
}

#[test]
fn the_settings_of_a_leaf_are_defaults() -> std::io::Result<()> {
    let path = std::env::temp_dir().join(format!("leafid-server-{}.properties", std::process::id()));
    let file = path.to_string_lossy().into_owned();
    let leaf = "leaf.name=com.example.leaf\nleaf.segment.enable=true\n\
                leaf.jdbc.url=jdbc:mysql://db:3306/leaf?useSSL=false\nleaf.jdbc.username=leaf\n\
                leaf.jdbc.password=s3&cret\n";
    let of = |more: &str, words: &[&str]| {
        std::fs::write(&path, format!("{leaf}{more}"))?;
        let words: Vec<_> = ["--leaf-properties", &file].into_iter().chain(words.iter().copied()).collect();
        parsed(&words).map(|cli| cli.options).map_err(std::io::Error::other)
    };
    let options = of("leaf.snowflake.enable=false\n", &["check"])?;
    assert_eq!(options.store, "jdbc:mysql://db:3306/leaf?useSSL=false&user=leaf&password=s3%26cret");
    assert_eq!((options.no_segment, options.no_snowflake, options.workers), (false, true, 0..=1023));
    let options = of("leaf.snowflake.enable=true\nleaf.segment.enable=false\n", &["--workers", "512-1023"])?;
    assert_eq!((options.no_segment, options.no_snowflake), (true, false));
    assert_eq!(of("leaf.snowflake.enable=false\n", &["--store", "x.db"])?.store, "x.db");
    for (more, said) in [
        ("leaf.snowflake.enable=true\n", "workers is 0-1023; allowed: worker ids that no Leaf has"),
        ("", "workers is 0-1023; allowed: worker ids that no Leaf has"),
        (
            "leaf.jdbc.url=\nleaf.snowflake.enable=false\n",
            "store is leafid-server.db; allowed: the database of the Leaf",
        ),
        ("leaf.segment.enable=yes\n", "leaf.segment.enable is \"yes\"; allowed: true or false"),
    ] {
        let error = of(more, &[]).map(|options| options.workers).unwrap_err().to_string();
        assert!(error.contains(said) && !error.contains("cret"), "{more}: {error}");
    }
    std::fs::remove_file(&path)
}

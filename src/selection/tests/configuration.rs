//! Each way to get a variable wrong, and what is said about it.

use crate::schedule::limits::{Limit, ProtocolLimits};
use crate::schedule::simulate::{Link, Network, brief};
use crate::selection::{
    Configuration, Device, Mode, Piece, RawConfiguration, ReportFormat, ReportTarget, RulesFile, Transport, Wanted,
};

fn parse(variables: &[(&str, &str)]) -> Result<Configuration, String> {
    let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    RawConfiguration::new(variables).parse().map_err(|errors| errors.to_string())
}

fn refused(name: &str, value: &str) -> String {
    parse(&[(name, value)]).expect_err(value)
}

#[test]
fn nothing_set_is_the_default() {
    let configuration = parse(&[]).unwrap();
    assert_eq!(configuration.mode, Mode::Replace);
    assert!(configuration.forced.iter().all(|wanted| *wanted == Wanted::Auto));
    assert_eq!(configuration.report, [ReportTarget::Stderr]);
    assert_eq!(configuration.max_communicators, None);
    assert_eq!(configuration.replaced_from(), Configuration::REPLACED_FROM);
    assert_eq!(configuration.rules.iter().count(), 0);
}

#[test]
fn set_to_nothing_is_not_set() {
    let configuration = parse(&[("COLLIE_BCAST", ""), ("COLLIE_RULES", ""), ("COLLIE_REPORT", " ")]).unwrap();
    assert_eq!(configuration.forced[0], Wanted::Auto);
    assert_eq!(configuration.report, [ReportTarget::Stderr]);
}

#[test]
fn calls_are_replaced_at_once_where_none_may_be_missed() {
    let from = |variables: &[(&str, &str)]| parse(variables).unwrap().replaced_from();
    assert_eq!(from(&[("COLLIE_AFTER", "9")]), 9);
    assert_eq!(from(&[("COLLIE_MODE", "verify")]), 1);
    assert_eq!(from(&[("COLLIE_MODE", "verify"), ("COLLIE_AFTER", "9")]), 9);
    assert_eq!(from(&[("COLLIE_SYNC", "clock"), ("COLLIE_AFTER", "9")]), 1);
    assert_eq!(from(&[("COLLIE_REPRODUCIBLE", "on")]), 1);
    assert_eq!(
        ["7", "7%", "7 %"].map(|text| parse(&[("COLLIE_LEARN_BUDGET", text)]).unwrap().learn_budget),
        [Some(7); 3]
    );
    for wrong in ["0", "51", "2.5", "%"] {
        assert!(refused("COLLIE_LEARN_BUDGET", wrong).contains("a whole number of percent from 1 to 50"), "{wrong}");
    }
    assert!(refused("COLLIE_AFTER", "0").contains("accepted: a whole number, at least 1"));
}

#[test]
fn every_variable_is_understood() {
    let configuration = parse(&[
        ("COLLIE_MODE", "native"),
        ("COLLIE_BCAST", "binomial"),
        ("COLLIE_ALLREDUCE", "native"),
        ("COLLIE_GATHER", "auto"),
        ("COLLIE_REPORT", "stderr, runs/a.json,b.txt,c.csv,d.html"),
        ("COLLIE_LOG", "collie=trace"),
        ("COLLIE_MAX_COMMUNICATORS", "7"),
        ("COLLIE_DEVICE", "ask"),
        ("COLLIE_SPAWNED", "replace"),
        ("COLLIE_PIECE", "off"),
        ("COLLIE_TRANSPORT", "shared"),
        ("COLLIE_LIMITS", "256, 1K"),
    ])
    .unwrap();
    assert_eq!(configuration.mode, Mode::Native);
    assert!(matches!(&configuration.forced[0], Wanted::Algorithm(choice) if choice.algorithm.name == "binomial"));
    assert_eq!(configuration.forced[2], Wanted::Native);
    let file = |path: &str, format| ReportTarget::File { path: path.into(), format };
    let targets = [
        ReportTarget::Stderr,
        file("runs/a.json", ReportFormat::Json),
        file("b.txt", ReportFormat::Text),
        file("c.csv", ReportFormat::Csv),
        file("d.html", ReportFormat::Html),
    ];
    assert_eq!(configuration.report, targets);
    assert_eq!(configuration.log, "collie=trace");
    assert_eq!(configuration.device, Device::Ask);
    assert_eq!((configuration.transport, parse(&[]).unwrap().transport), (Transport::Shared, Transport::Messages));
    assert_eq!(configuration.max_communicators, Some(7));
    assert_eq!((configuration.piece.or(Some(5)), configuration.limits), (None, ProtocolLimits::of([256, 1024])));
    assert_eq!(parse(&[]).unwrap().limits, None);
    let (many, two) = ("8Kx32".parse::<Limit>().unwrap(), Limit::from(8192));
    let (found, of_two) = (ProtocolLimits::of([many]).unwrap(), ProtocolLimits::of([two]).unwrap());
    let within =
        |configuration: &Configuration| [false, true].map(|crowded| configuration.limits_within_node(found, crowded));
    assert_eq!(within(&parse(&[]).unwrap()), [found, of_two]);
    assert_eq!(within(&parse(&[("COLLIE_LIMITS", "8Kx32")]).unwrap()), [found; 2], "as the user says");
    let measured = Network { limits: Some(vec![many]), ..Network::preset("ethernet").unwrap() };
    let of_file = Configuration { network: Some(std::sync::Arc::new(measured)), ..Configuration::default() };
    assert_eq!(of_file.limits_within_node(ProtocolLimits::NONE, true), of_two, "those of a file are measured too");
    assert!(of_file.knows_limits() && !parse(&[("COLLIE_NETWORK", "ethernet")]).unwrap().knows_limits());
    assert_eq!(parse(&[("COLLIE_LIMITS", "off")]).unwrap().limits, Some(ProtocolLimits::NONE));
    for wrong in ["1K,256", "0", "1,2,3", "never"] {
        assert!(parse(&[("COLLIE_LIMITS", wrong)]).is_err(), "{wrong}");
    }
    assert_eq!(parse(&[("COLLIE_REPORT", "off")]).unwrap().report, []);
}

#[test]
fn numa_nodes_are_stated_or_found() {
    let stated = |value, ranks| parse(&[("COLLIE_NUMA", value)]).unwrap().numa.stated(ranks);
    assert_eq!([stated("auto", 4), stated("", 4)], [None, None]);
    assert_eq!([stated("1", 4), stated("7", 1)], [Some(vec![]), Some(vec![])]);
    assert_eq!([stated("2", 4), stated("2", 5)], [Some(vec![0, 0, 1, 1]), Some(vec![0, 0, 0, 1, 1])]);
    assert_eq!([stated("3", 4), stated("9", 3)], [Some(vec![0, 0, 1, 2]), Some(vec![0, 1, 2])]);
    for ranks in 1..40 {
        for nodes in 2..9 {
            let stated = parse(&[("COLLIE_NUMA", nodes.to_string().as_str())]).unwrap().numa.stated(ranks).unwrap();
            assert!(stated.windows(2).all(|pair| pair[1] - pair[0] <= 1), "numbered by first ranks: {stated:?}");
            assert_eq!(stated.last().map_or(1, |last| *last as usize + 1), nodes.min(ranks));
        }
    }
    for wrong in ["0", "two", "-1"] {
        assert!(refused("COLLIE_NUMA", wrong).contains("accepted: auto, or a number of NUMA nodes"));
    }
}

#[test]
fn unknown_placeholder() {
    for (name, value, found) in [("COLLIE_REPORT", "stderr,runs/%q.json", "%q"), ("COLLIE_TRACE", "trace%", "%")] {
        let words = refused(name, value);
        assert!(
            words.contains(&format!("'{found}' is not a placeholder; accepted: %p process of rank 0, ")),
            "{words}"
        );
    }
    let configuration = parse(&[("COLLIE_REPORT", "%x-%j.json"), ("COLLIE_TRACE", "%h-%t-%p-100%%")]).unwrap();
    assert_eq!(configuration.trace, Some("%h-%t-%p-100%%".into()), "as written");
}

#[test]
fn misspelt_variable() {
    let words = refused("COLLIE_BCSAT", "binomial");
    assert!(words.starts_with("COLLIE_BCSAT: unknown variable; accepted: COLLIE_MODE, "), "{words}");
    assert!(words.ends_with("; did you mean 'COLLIE_BCAST'?"), "{words}");
    assert!(refused("COLLIE_BCSAT", "").contains("unknown variable"));
}

#[test]
fn what_module_files_set_means_nothing() {
    for name in
        ["COLLIE_ROOT", "COLLIE_DIR", "COLLIE_HOME", "COLLIE_VERSION", "COLLIE_BASE", "COLLIE_INC", "COLLIE_LIB"]
    {
        let raw = RawConfiguration::new(vec![(name.to_owned(), "/opt/collie/0.1.0".to_owned())]);
        assert!(raw.parse().is_ok(), "{name}");
        assert_eq!(raw, RawConfiguration::default(), "{name}: it may differ between nodes");
    }
    assert!(refused("COLLIE_ROOTS", "/opt").contains("unknown variable"));
}

#[test]
fn words_and_numbers_that_are_not_accepted() {
    assert_eq!(
        refused("COLLIE_WATCHDOG", "0"),
        "COLLIE_WATCHDOG: '0' is not accepted; accepted: a whole number of seconds, at least 1"
    );
    assert_eq!(
        refused("COLLIE_CHECKPOINT", "1m"),
        "COLLIE_CHECKPOINT: '1m' is not accepted; accepted: a whole number of seconds, at least 1"
    );
    assert_eq!(
        refused("COLLIE_MEMORY", "64 MB"),
        "COLLIE_MEMORY: '64 MB' is not accepted; accepted: a number of bytes, at least 1M; K, M and G are powers of 1024"
    );
    assert_eq!(
        refused("COLLIE_SPILL", "none"),
        "COLLIE_SPILL: 'none' is not accepted; accepted: a number of bytes; K, M and G are powers of 1024"
    );
    assert_eq!(
        refused("COLLIE_SYNC", "clok"),
        "COLLIE_SYNC: 'clok' is not accepted; accepted: off, clock, barrier; did you mean 'clock'?"
    );
    assert_eq!(
        refused("COLLIE_ON_DIFFERENCE", "aborts"),
        "COLLIE_ON_DIFFERENCE: 'aborts' is not accepted; accepted: report, abort; did you mean 'abort'?"
    );
}

#[test]
fn misspelt_mode() {
    assert_eq!(
        refused("COLLIE_MODE", "natvie"),
        "COLLIE_MODE: 'natvie' is not accepted; accepted: replace, best, native, compare, learn, verify; did you mean 'native'?"
    );
}

#[test]
fn misspelt_algorithm() {
    let words = refused("COLLIE_BCAST", "binomail");
    assert!(words.starts_with("COLLIE_BCAST: unknown bcast algorithm 'binomail'; accepted: auto, native, "), "{words}");
    assert!(words.ends_with("; did you mean 'binomial'?"), "{words}");
    assert!(refused("COLLIE_BCAST", "nativ").ends_with("; did you mean 'native'?"));
    assert_eq!(
        refused("COLLIE_BCAST", "native:segment=4K"),
        "COLLIE_BCAST: native has no parameters; accepted: native alone"
    );
    let inside = refused("COLLIE_BCAST", "hierarchical:leaders=nativ");
    assert!(inside.contains("unknown bcast algorithm 'nativ'; accepted: ") && !inside.contains("auto, "), "{inside}");
    let words = refused("COLLIE_ALLREDUCE", "recursive_doubling:segment=1K");
    assert_eq!(words, "COLLIE_ALLREDUCE: recursive_doubling has no parameter 'segment'; accepted: none");
    let words = refused("COLLIE_ALLREDUCE", "recursive_doubling:fast");
    assert_eq!(words, "COLLIE_ALLREDUCE: 'fast' sets no parameter; write name=value");
}

#[test]
fn malformed_numbers() {
    let too_large = ", at most 18446744073709551615";
    for (value, most) in [("0", ""), ("-1", ""), ("many", ""), ("1e3", ""), ("99999999999999999999999", too_large)] {
        assert_eq!(
            refused("COLLIE_MAX_COMMUNICATORS", value),
            format!("COLLIE_MAX_COMMUNICATORS: '{value}' is not accepted; accepted: a whole number, at least 1{most}")
        );
    }
}

#[test]
fn report_targets() {
    let accepted = "accepted: off, stderr, a file name that ends in .txt, .json, .csv or .html";
    assert_eq!(
        refused("COLLIE_REPORT", "stdrer"),
        format!("COLLIE_REPORT: 'stdrer' is not accepted; {accepted}; did you mean 'stderr'?")
    );
    assert_eq!(refused("COLLIE_REPORT", "a.txt,,"), format!("COLLIE_REPORT: '' is not accepted; {accepted}"));
    assert_eq!(refused("COLLIE_REPORT", "off,a.txt"), "COLLIE_REPORT: off stands alone, not in a list");
    assert_eq!(refused("COLLIE_REPORT", "a.txt,a.txt"), "COLLIE_REPORT: 'a.txt' is given twice");
    assert_eq!(refused("COLLIE_REPORT", "runs/a.txt,./runs//a.txt"), "COLLIE_REPORT: './runs//a.txt' is given twice");
    assert_eq!(refused("COLLIE_REPORT", "stderr,stderr"), "COLLIE_REPORT: 'stderr' is given twice");
}

#[test]
fn files_that_can_be_read_only_once_are_refused() {
    for name in ["COLLIE_RULES", "COLLIE_TABLES", "COLLIE_LEARN", "COLLIE_NETWORK"] {
        let told = parse(&[("COLLIE_MODE", "learn"), (name, "/dev/null")]).expect_err(name);
        assert!(told.contains("no regular file, and is to be read more than once; accepted: a regular file"), "{told}");
    }
}

#[test]
fn one_file_is_for_one_thing() {
    let refused = |variables: &[(&str, &str)]| parse(variables).expect_err("one file for two");
    let words = "COLLIE_TRACE: './a.json' is already the file of COLLIE_REPORT; accepted: another file";
    assert_eq!(refused(&[("COLLIE_REPORT", "stderr,b.txt,a.json"), ("COLLIE_TRACE", "./a.json")]), words);
    let words = "COLLIE_LEARN: '/no/such/a' is already the file of COLLIE_TRACE; accepted: another file";
    assert_eq!(
        refused(&[("COLLIE_MODE", "learn"), ("COLLIE_TRACE", "/no/such/./a"), ("COLLIE_LEARN", "/no/such/a")]),
        words
    );
    let apart = [("COLLIE_REPORT", "a.json"), ("COLLIE_TRACE", "runs/a.json"), ("COLLIE_LEARN", "/no/such/a.json")];
    assert!(parse(&apart).is_ok());
}

#[test]
fn log_filters() {
    assert_eq!(
        refused("COLLIE_LOG", "collie=trcae"),
        "COLLIE_LOG: 'trcae' in 'collie=trcae' is not a level; accepted: off, error, warn, info, debug, trace; did you mean 'trace'?"
    );
    assert_eq!(
        refused("COLLIE_LOG", "coolie=trace"),
        "COLLIE_LOG: 'coolie' in 'coolie=trace' is not a module of Collie that logs; accepted: collie, collie::call, \
         collie::communicator, collie::entry, collie::mpi, collie::process, collie::service, collie::shared"
    );
    let inner = refused("COLLIE_LOG", "collie::nosuch=trace");
    assert!(inner.starts_with("COLLIE_LOG: 'collie::nosuch' in 'collie::nosuch=trace' is not a module"), "{inner}");
    assert_eq!(
        refused("COLLIE_LOG", "/tmp/log"),
        "COLLIE_LOG: '/tmp/log' names no level in one place; accepted: off, error, warn, info, debug, trace"
    );
    for filter in ["info", "off", "collie", "collie=trace,collie::mpi=debug", "warn,collie::mpi=trace/ring", "INFO"] {
        assert_eq!(parse(&[("COLLIE_LOG", filter)]).unwrap().log, filter);
    }
}

#[test]
fn unreadable_rules_file() {
    let words = refused("COLLIE_RULES", "/nowhere/at all.rules");
    assert_eq!(words, "COLLIE_RULES: cannot read '/nowhere/at all.rules': No such file or directory (os error 2)");
}

#[test]
fn nothing_is_learned_into_a_file_that_is_not_understood() {
    let parsed = |mode: &str, text: &str| {
        let learned = Some(RulesFile { path: "l".to_owned(), text: Ok(text.to_owned()) });
        let variables = vec![("COLLIE_MODE".to_owned(), mode.to_owned())];
        RawConfiguration { learned, variables, ..RawConfiguration::default() }.parse()
    };
    let refused = |text: &str| parsed("learn", text).unwrap_err().to_string();
    assert!(parsed("replace", "ring, please\n").is_ok(), "nobody asks for it");
    assert!(refused("# mine\nring, please\n").starts_with("l:2:"));
    for theirs in ["1\n7 1\n1 1\n0 1 0 0\n", "{}"] {
        let told = refused(theirs);
        assert!(told.starts_with("l:1:1: what is learned cannot be added"), "{told}");
    }
}

#[test]
fn text_that_is_not_utf8() {
    assert_eq!(refused("COLLIE_BCAST", "bin\u{fffd}"), "COLLIE_BCAST: 'bin\u{fffd}' is not UTF-8");
}

#[test]
fn all_errors_at_once() {
    let raw = RawConfiguration {
        variables: vec![
            ("COLLIE_BCAST".to_owned(), "x".to_owned()),
            ("COLLIE_MODE".to_owned(), "native".to_owned()),
            ("COLLIE_REPORT".to_owned(), "x".to_owned()),
        ],
        rules: Some(RulesFile { path: "r".to_owned(), text: Ok("bcast 1 1 x\nbcast 1 y z\n".to_owned()) }),
        ..RawConfiguration::default()
    };
    let words = raw.parse().unwrap_err().to_string();
    let places: Vec<_> = words.lines().map(|line| line.split(": ").next().unwrap()).collect();
    assert_eq!(places, ["COLLIE_BCAST", "COLLIE_REPORT", "r:1:11", "r:2:9", "r:2:11"]);
}

#[test]
fn the_raw_configuration_survives_the_way_to_the_other_ranks() {
    for text in [Ok("# nothing\n".to_owned()), Err("no permission".to_owned())] {
        let raw = RawConfiguration {
            variables: vec![("COLLIE_RULES".to_owned(), "ä.rules".to_owned())],
            rules: Some(RulesFile { path: "ä.rules".to_owned(), text }),
            ..RawConfiguration::default()
        };
        let there = serde_json::to_vec(&raw).unwrap();
        assert_eq!(serde_json::from_slice::<RawConfiguration>(&there).unwrap(), raw);
    }
}

#[test]
fn the_network_decides_where_bytes_begin_to_count() {
    let of = |name: &str| RawConfiguration::new(vec![("COLLIE_NETWORK".to_owned(), name.to_owned())]);
    let default = Configuration::default();
    assert_eq!((default.half_bandwidth(true), default.half_bandwidth(false)), (4800, 25882));
    assert_eq!(of("infiniband").parse().unwrap().half_bandwidth(false), 31190);
    let error = of("no/such/file").parse().unwrap_err().to_string();
    assert!(error.contains("COLLIE_NETWORK") && error.contains("shared_memory, ethernet, infiniband"), "{error}");
    let mut network = Network::preset("ethernet").unwrap();
    network.off_node.per_byte *= 2.0;
    let text =
        |network: &Network| Some(RulesFile { path: "n".to_owned(), text: Ok(serde_json::to_string(network).unwrap()) });
    let raw = RawConfiguration { network: text(&network), ..of("n") };
    assert_eq!(raw.parse().unwrap().half_bandwidth(false), 12941);
    let limited = |variables: &[(&str, &str)], fragment, limits| {
        let network = Network { fragment, limits, ..network.clone() };
        let raw = RawConfiguration { network: text(&network), ..of("n") };
        let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let found = RawConfiguration { variables: variables.chain(raw.variables).collect(), ..raw }.parse().unwrap();
        (found.piece, found.knows_limits().then(|| found.limits_within_node(ProtocolLimits::NONE, false)))
    };
    let limits = ProtocolLimits::of([4032]);
    assert_eq!(limited(&[], Some(8192), Some(vec![4032.into()])), (Piece::Bytes(8192), limits));
    assert_eq!(limited(&[], Some(0), Some(vec![])), (Piece::Off, Some(ProtocolLimits::NONE)));
    assert_eq!(limited(&[], None, None), (Piece::Auto, None));
    let set = [("COLLIE_PIECE", "4K"), ("COLLIE_LIMITS", "off")];
    assert_eq!(limited(&set, Some(8192), Some(vec![4032.into()])), (Piece::Bytes(4096), Some(ProtocolLimits::NONE)));
    network.ports_per_node = 0;
    let error = RawConfiguration { network: text(&network), ..raw }.parse().unwrap_err().to_string();
    assert!(error.contains("ports_per_node"), "{error}");
}

#[test]
fn a_measured_network_is_alike_wherever_it_was_asked_for() {
    let of = |variables: &[(&str, &str)]| {
        let owned = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        RawConfiguration::new(owned.collect())
    };
    let asking = of(&[("COLLIE_NETWORK", " measure ")]);
    assert_eq!(asking.network, None, "no file is looked for");
    let before = asking.parse().unwrap();
    let default = Configuration::default();
    let bytes = |configuration: &Configuration| [true, false].map(|one_node| configuration.half_bandwidth(one_node));
    assert!(before.measures_network && before.network.is_none() && !default.measures_network);
    assert_eq!(bytes(&before), bytes(&default), "the presets hold where nothing was measured");
    let link =
        Link { latency: 1.0 / 3.0e6, overhead: 0.0, gap: 0.0, per_byte: 1.0 / 7.0e9, ..before.network(true).on_node };
    let told = serde_json::to_string(&brief::network([Some(link), None])).unwrap();
    // What a rank of another node or world parses is what it was handed.
    let handed: RawConfiguration =
        serde_json::from_slice(&serde_json::to_vec(&asking.with_measured(&told).unwrap()).unwrap()).unwrap();
    assert_eq!(handed, of(&[("COLLIE_NETWORK", " measure ")]).with_measured(&told).unwrap());
    let [own, theirs] = [asking.with_measured(&told).unwrap(), handed].map(|raw| raw.parse().unwrap());
    assert!(own.network == theirs.network && own.network.is_some());
    assert_eq!(bytes(&own), [2333, bytes(&default)[1]]);
    assert_eq!((own.piece, own.knows_limits()), (Piece::Auto, false), "these are found as without a network");
    for others in [of(&[]), of(&[("COLLIE_NETWORK", "infiniband")])] {
        assert_eq!(others.with_measured(&told), None, "nobody asked for it");
    }
}

#[test]
fn what_is_measured_does_not_go_with_reproducible_results() {
    let wrong = parse(&[("COLLIE_NETWORK", "measure"), ("COLLIE_REPRODUCIBLE", "on")]).unwrap_err().to_string();
    assert!(wrong.starts_with("COLLIE_NETWORK: with measure") && wrong.contains("COLLIE_REPRODUCIBLE=on"), "{wrong}");
    let misspelt = parse(&[("COLLIE_NETWORK", "mesure")]).unwrap_err().to_string();
    assert!(
        misspelt.contains("nor measure, nor readable") && misspelt.ends_with("did you mean 'measure'?"),
        "{misspelt}"
    );
}

#[test]
fn what_is_measured_in_each_run_decides_no_reproducible_reduction() {
    let parsed = |text: &str, variables: &[(&str, &str)]| {
        let all = variables.iter().chain(&[("COLLIE_REPRODUCIBLE", "on")]);
        let variables = all.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let rules = Some(RulesFile { path: "site.rules".to_owned(), text: Ok(text.to_owned()) });
        RawConfiguration { variables, rules, ..RawConfiguration::default() }.parse()
    };
    let by_pieces = "reduce * * linear if one_node\nreduce * * binomial if in_pieces";
    let error = parsed(by_pieces, &[]).unwrap_err().to_string();
    assert!(error.starts_with("COLLIE_RULES: site.rules:2: which messages travel in pieces is measured"), "{error}");
    assert!(parsed(by_pieces, &[("COLLIE_LIMITS", "4040")]).is_ok());
    assert!(parsed("bcast * * binomial if in_pieces", &[]).is_ok(), "it reduces nothing");
}

#[test]
fn neither_do_rules_that_were_learned_and_edited() {
    let evidence = "#: {\"machine\":\"here\",\"mpi\":\"An MPI\",\"date\":\"2026-11-29\",\"function\":\"MPI_Reduce\",\
                    \"bytes_from\":8,\"bytes_to\":15,\"commutative\":true,\"ranks\":4,\"nodes\":1,\"most_on_node\":4,\
                    \"oversubscribed\":false,\"algorithm\":\"linear\",\"calls\":3,\"candidates\":[]}";
    let parsed = |rule: &str| {
        let variables = [("COLLIE_REPRODUCIBLE", "on"), ("COLLIE_MODE", "learn")];
        let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let text = Ok(format!("{evidence}\n{rule}\n"));
        let learned = Some(RulesFile { path: "learned.rules".to_owned(), text });
        let place = ["here", "An MPI"].map(str::to_owned);
        RawConfiguration { variables, learned, place, ..RawConfiguration::default() }.parse()
    };
    let error = parsed("reduce 4 8-15 binomial if in_pieces").unwrap_err().to_string();
    assert!(error.starts_with("COLLIE_LEARN: learned.rules:2: which messages travel in pieces"), "{error}");
    assert!(parsed("reduce 4 8-15 binomial").is_ok());
}

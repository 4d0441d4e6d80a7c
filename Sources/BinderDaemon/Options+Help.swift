extension Options {
  /// The text of `--help`.
  var help: String {
    let (name, directory) = (program.name, program.directory)
    let blank = String(repeating: " ", count: name.utf8.count)
    return """
      usage: \(name) [--config FILE] [--bind-dir DIR] [--socket PATH] [--journal FILE]
             \(blank) [--durability POLICY] [--read-only] [--log-level LEVEL]
             \(blank) [--node NAME] [--address ADDRESS] [--without-replication]
             \(blank) [--clock TIME] [--speed N] [--offline]
             \(name) --verify | --info | --sql SELECT | --backup FILE | --restore FILE | --export FILE
             \(blank) | --import FILE | --init | --copy JOURNAL | --branch FILE [--at WHEN]
             \(blank) [--journal FILE] [--epoch EPOCH] [--force] [--adopt] [--progress FORM]
             \(name) --compact [--before SEQ] [--journal FILE] [--force]
             \(name) --remove PATTERN [--journal FILE]
             \(name) --check-config [FILE] [--quiet]
             \(name) --print-unit KIND [--exec PATH]
             \(name) --version | --help

        --config FILE        the configuration; default $CONFIGURATION_DIRECTORY/\(directory).conf (systemd),
                             for root /etc/\(directory)/\(directory).conf, else $XDG_CONFIG_HOME/\(directory)/\(directory).conf
                             (~/.config); options of the command line take precedence over it
        --bind-dir DIR       the directory of *.bind files, one binding per line; default bind.d beside
                             the configuration; beside it are view.d with *.view files, service.d
                             with *.service files, and types.d with *.types files
        --socket PATH        the socket for clients; default $XDG_RUNTIME_DIR/\(directory)/bus.sock, for root
                             /run/\(directory)/bus.sock; a socket passed by systemd takes precedence
        --journal FILE       the journal; default $STATE_DIRECTORY/journal.db, then
                             $XDG_STATE_HOME/\(directory)/journal.db, for root /var/lib/\(directory)/journal.db
                             or a PostgreSQL database, which several daemons may share:
                             postgres://HOST,HOST/DATABASE; see Documentation/cluster.md
        --node NAME          the name of this daemon among those that share the journal; default: the name
                             of the machine
        --address ADDRESS    how clients reach this daemon; the daemons that follow it name the address
                             when they refuse a command; default: none
        --without-replication
                             accept a PostgreSQL server without standbys: a failover may lose events
        --durability POLICY  always: the daemon answers when the data is on disk (default)
                             interval[=MS]: the data is on disk MS milliseconds later, default 1000
                             os: the kernel decides when the data is on disk
        --read-only          serve the readable part of the journal and refuse writes; works on a
                             read-only disk
        --log-level LEVEL    the least important lines in the log: error, warning, notice or info (default)
        --clock TIME         for private daemons, see 'bindctl session': the time at the start, not before the
                             last event of the journal; for events and bindings
        --speed N            let N seconds pass in one for events and bindings
        --offline            ask nothing of the network
        --verify             read the whole journal and list damage; exit with 1 if there is any; a daemon
                             may run meanwhile, also during --info, --sql, --backup and --export
        --info               print statistics of the journal as one line of JSON
        --sql SELECT         print the rows of an SQL statement that reads, as sqlite3 does; unlike for
                             sqlite3, the newest events are there at once
        --backup FILE        write a verified copy to FILE, complete or not at all
        --restore FILE       create the journal from a backup, with a new epoch
        --export FILE        write the journal as lines of JSON to FILE, complete or not at all; - is
                             stdout
        --import FILE        create the journal from such lines, with a new epoch; a wrong line is reported
                             with its number and the rule, and nothing is created
        --init               create an empty journal in the PostgreSQL database of --journal
        --copy JOURNAL       copy the journal to another place, a file or a postgres:// address, with all
                             positions and a new epoch; no daemon may use either
        --branch FILE        copy the journal to FILE for a private daemon, with a new epoch; a daemon may run
                             meanwhile
        --at WHEN            --branch: as it was at a position or a time; default: now
        --compact            remove the events that retention does not keep, or those before SEQ; the
                             daemon must be stopped
        --remove PATTERN     remove the values that match PATTERN ('cells/jobs/**'), whoever wrote them; the
                             daemon must be stopped; exit with 1 if no value matches
        --force              replace an existing file, which is kept as FILE.old; with --restore and
                             --import as FILE.old.2 if FILE.old exists;
                             --compact: trust the system clock although it has jumped
        --adopt              --restore, --import, --copy: make a journal for \(name) of one that belongs to
                             a daemon with another name
        --epoch EPOCH        --verify, --info, --sql, --backup, --export, --branch: only
                             if the journal has this epoch
        --progress FORM      bar, lines, json or none

        --check-config       check the configuration and list all errors, or the effective settings; exit
                             with 78 if there are errors
        --quiet              print only errors and warnings
        --print-unit KIND    print a file for systemd: service, socket, sysusers, tmpfiles,
                             backup-service, backup-timer, user-service or user-socket
        --exec PATH          --print-unit: the path of the installed program; default: of this one

      exit: 0 ended by a signal · 64 wrong command line · 69 no socket · 74 the journal failed while
            running, or the output cannot be written · 78 the journal or the configuration cannot be
            used (see the message; a restart does not help)

      """
  }
}

/// The tables and functions of a journal in a PostgreSQL database, in the schema `binder`.
///
/// One row, `head`, orders all commits: an append moves it on and compares position and term. So
/// positions have no gaps, and a daemon that has lost its lease appends nothing.
enum PostgresSchema {
  /// The version of the tables and functions; a journal of another version is refused.
  static let format = "1"

  /// The schema of a journal in use.
  static let name = "binder"

  /// The channel of notifications: about new events and about a new term.
  static let channel = "binder"

  /// The key of the advisory lock that the session of the active daemon holds.
  static let lock: Int64 = 0x6269_6E64

  /// The SQLSTATEs of the functions' own errors.
  enum Code {
    /// The server does not wait for a standby.
    static let asynchronous = "BD001"
    /// Another daemon has the name of the node.
    static let sameNode = "BD002"
    /// The daemon is not the active one any more.
    static let superseded = "BD003"
    /// A tool refuses what would change a journal.
    static let refused = "BD005"
  }

  /// The statements that create the tables in an empty schema.
  ///
  /// - Parameter schema: The name of the schema, which does not exist.
  static func tables(in schema: String, epoch: String) -> [String] {
    [
      "CREATE SCHEMA \(schema)",
      "CREATE TABLE \(schema).journal (key text PRIMARY KEY, value text NOT NULL)",
      // Room in the page for the many versions of a row that changes with each commit.
      """
      CREATE TABLE \(schema).head (
        one     boolean PRIMARY KEY DEFAULT true CHECK (one),
        last    bigint NOT NULL,
        time    bigint NOT NULL,
        term    bigint NOT NULL,
        beat    bigint NOT NULL,
        active  text,
        address text
      ) WITH (fillfactor = 10)
      """,
      """
      CREATE TABLE \(schema).event (
        seq      bigint PRIMARY KEY,
        time     bigint NOT NULL,
        version  bigint NOT NULL,
        previous bigint NOT NULL,
        stream   text NOT NULL,
        type     text NOT NULL,
        data     text NOT NULL,
        command  text,
        meta     text,
        crc      bigint NOT NULL
      )
      """,
      """
      CREATE TABLE \(schema).snapshot (
        service text NOT NULL,
        seq     bigint NOT NULL,
        part    integer NOT NULL,
        parts   integer NOT NULL,
        schema  integer NOT NULL,
        data    bytea NOT NULL,
        crc     bigint NOT NULL,
        PRIMARY KEY (service, seq, part)
      )
      """,
      """
      CREATE TABLE \(schema).removal (
        first    bigint PRIMARY KEY,
        last     bigint NOT NULL,
        kept     bigint NOT NULL,
        services text NOT NULL
      )
      """,
      """
      CREATE TABLE \(schema).node (
        name     text PRIMARY KEY,
        boot     text NOT NULL,
        address  text,
        process  integer NOT NULL,
        version  text NOT NULL,
        position bigint NOT NULL,
        state    text NOT NULL,
        since    timestamptz NOT NULL,
        seen     timestamptz NOT NULL
      ) WITH (fillfactor = 50)
      """,
      "INSERT INTO \(schema).head VALUES (true, 0, 0, 0, 0, NULL, NULL)",
      """
      INSERT INTO \(schema).journal VALUES
        ('format', '\(format)'), ('epoch', '\(epoch)'), ('first', '1')
      """,
    ]
  }

  /// The statements that create the functions of a journal in use.
  static let functions = [append, beat, take, resign, keep]

  /// Appends events: all of them, or none if the head is not the expected one.
  private static let append = """
    CREATE FUNCTION binder.append(
      expected bigint, asked bigint, waits boolean, notifies boolean, times bigint[],
      versions bigint[], befores bigint[], streams text[], types text[], datas text[],
      commands text[], metas text[], crcs bigint[],
      OUT done boolean, OUT at bigint, OUT in_term bigint
    ) LANGUAGE plpgsql AS $$
    DECLARE
      added CONSTANT bigint := array_length(times, 1);
    BEGIN
      IF waits AND current_setting('synchronous_standby_names') = '' THEN
        RAISE EXCEPTION 'synchronous_standby_names is empty' USING ERRCODE = 'BD001';
      END IF;
      UPDATE binder.head SET last = expected + added, time = times[added]
        WHERE last = expected AND term = asked;
      done := FOUND;
      IF NOT done THEN
        SELECT h.last, h.term INTO at, in_term FROM binder.head h;
        RETURN;
      END IF;
      INSERT INTO binder.event (seq, time, version, previous, stream, type, data, command, meta, crc)
        SELECT expected + e.n, e.time, e.version, e.previous, e.stream, e.type, e.data, e.command,
          e.meta, e.crc
        FROM unnest(times, versions, befores, streams, types, datas, commands, metas, crcs)
          WITH ORDINALITY
          AS e (time, version, previous, stream, type, data, command, meta, crc, n);
      at := expected + added;
      in_term := asked;
      IF notifies THEN PERFORM pg_notify('binder', at::text); END IF;
    END $$
    """

  /// Records that a daemon lives, and returns the state of the journal.
  ///
  /// Its commit is the one after which a daemon may believe what it has read on this connection.
  private static let beat = """
    CREATE FUNCTION binder.beat(
      node_name text, node_boot text, node_address text, node_version text, node_position bigint,
      node_state text, asked bigint,
      OUT epoch text, OUT first bigint, OUT last bigint, OUT "time" bigint, OUT term bigint,
      OUT beat bigint, OUT active text, OUT address text, OUT crc bigint, OUT standbys text,
      OUT others bigint, OUT slowest bigint, OUT daemons text
    ) LANGUAGE plpgsql AS $$
    #variable_conflict use_column
    BEGIN
      INSERT INTO binder.node AS n
        VALUES (node_name, node_boot, node_address, pg_backend_pid(), node_version, node_position,
          node_state, now(), now())
        ON CONFLICT (name) DO UPDATE SET boot = excluded.boot, address = excluded.address,
          process = excluded.process, version = excluded.version, position = excluded.position,
          state = excluded.state, seen = excluded.seen,
          since = CASE WHEN n.state = excluded.state AND n.boot = excluded.boot THEN n.since
            ELSE excluded.since END
        WHERE n.boot = excluded.boot OR n.state = 'stopped'
          OR n.seen < now() - interval '5 seconds'
          -- The session of a daemon that was killed is gone before its time.
          OR NOT EXISTS (SELECT 1 FROM pg_stat_activity a WHERE a.pid = n.process);
      IF NOT FOUND THEN
        RAISE EXCEPTION 'another daemon has the name %', node_name USING ERRCODE = 'BD002';
      END IF;
      IF asked IS NOT NULL THEN
        UPDATE binder.head SET beat = beat + 1 WHERE term = asked;
      END IF;
      SELECT h.last, h.time, h.term, h.beat, h.active, h.address
        INTO last, time, term, beat, active, address FROM binder.head h;
      SELECT j.value INTO epoch FROM binder.journal j WHERE j.key = 'epoch';
      SELECT j.value::bigint INTO first FROM binder.journal j WHERE j.key = 'first';
      SELECT e.crc INTO crc FROM binder.event e WHERE e.seq = node_position;
      SELECT count(*), min(n.position) INTO others, slowest FROM binder.node n
        WHERE n.name <> node_name AND n.state <> 'stopped' AND n.seen > now() - interval '10 seconds';
      SELECT json_agg(json_build_object('name', n.name, 'boot', n.boot, 'address', n.address,
          'version', n.version, 'state', n.state, 'position', n.position,
          'silent', greatest(0, extract(epoch FROM now() - n.seen) * 1000)::bigint) ORDER BY n.name)
        INTO daemons FROM binder.node n
        WHERE n.state <> 'stopped' AND n.seen > now() - interval '1 day';
      standbys := current_setting('synchronous_standby_names');
    END $$
    """

  /// Makes a daemon the active one, if nobody is, or if it is forced.
  private static let take = """
    CREATE FUNCTION binder.take(
      node_name text, node_address text, asked bigint, forced boolean,
      OUT done boolean, OUT last bigint, OUT "time" bigint, OUT in_term bigint
    ) LANGUAGE plpgsql AS $$
    DECLARE
      locked boolean := pg_try_advisory_lock(\(lock));
    BEGIN
      done := false;
      IF NOT locked AND NOT forced THEN RETURN; END IF;
      UPDATE binder.head SET term = term + 1, beat = 0, active = node_name, address = node_address
        WHERE term = asked RETURNING head.last, head.time, head.term INTO last, time, in_term;
      done := FOUND;
      IF NOT done THEN
        IF locked THEN PERFORM pg_advisory_unlock(\(lock)); END IF;
        RETURN;
      END IF;
      IF NOT locked THEN
        -- Ends the session of a daemon that is paused. One that waits for a standby ends by itself:
        -- ended, its commit would be shown before the standby has it.
        BEGIN
          PERFORM pg_terminate_backend(a.pid) FROM pg_locks l JOIN pg_stat_activity a USING (pid)
            WHERE l.locktype = 'advisory' AND l.classid = 0 AND l.objid = \(lock) AND l.granted
              AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
              AND a.wait_event IS DISTINCT FROM 'SyncRep';
        EXCEPTION WHEN insufficient_privilege THEN NULL;
        END;
      END IF;
      PERFORM pg_notify('binder', 'term');
    END $$
    """

  /// Gives the lease back, so that another daemon takes it at once.
  private static let resign = """
    CREATE FUNCTION binder.resign(node_name text, asked bigint) RETURNS void
    LANGUAGE plpgsql AS $$
    BEGIN
      UPDATE binder.head SET active = NULL, address = NULL, beat = 0
        WHERE term = asked AND active = node_name;
      UPDATE binder.node SET state = 'stopped', seen = now() WHERE name = node_name;
      PERFORM pg_advisory_unlock(\(lock));
      PERFORM pg_notify('binder', 'term');
    END $$
    """

  /// Stores a note, if the daemon is the active one.
  private static let keep = """
    CREATE FUNCTION binder.keep(asked bigint, note text, content text) RETURNS void
    LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM 1 FROM binder.head WHERE term = asked;
      IF NOT FOUND THEN RAISE EXCEPTION 'another daemon is active' USING ERRCODE = 'BD003'; END IF;
      INSERT INTO binder.journal VALUES (note, content)
        ON CONFLICT (key) DO UPDATE SET value = excluded.value;
    END $$
    """
}

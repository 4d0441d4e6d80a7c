internal import Journal

/// The statements that sessions prepare.
extension PostgresStatement {
  static let append = PostgresStatement(
    name: "append",
    text: """
      SELECT done, at, in_term FROM binder.append(
        $1::bigint, $2::bigint, $3::boolean, $4::boolean,
        \(EventColumns.arrays(from: 5, hasPositions: false)))
      """)

  static let beat = PostgresStatement(
    name: "beat",
    text: """
      SELECT epoch, first, last, time, term, beat, active, address, crc, standbys, others, slowest,
        daemons
      FROM binder.beat(
        $1::text, $2::text, $3::text, $4::text, $5::bigint, $6::text, $7::bigint)
      """)

  static let take = PostgresStatement(
    name: "take",
    text: """
      SELECT done, last, time, in_term
      FROM binder.take($1::text, $2::text, $3::bigint, $4::boolean)
      """)

  /// Takes the lock of the active daemon once, however often it runs in a session.
  static let lock = PostgresStatement(
    name: "lock",
    text: """
      SELECT CASE WHEN EXISTS (
        SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND classid = 0
          AND objid = \(PostgresSchema.lock) AND mode = 'ExclusiveLock' AND granted
          AND pid = pg_backend_pid())
      THEN true ELSE pg_try_advisory_lock(\(PostgresSchema.lock)) END
      """)

  static let resign = PostgresStatement(
    name: "resign", text: "SELECT binder.resign($1::text, $2::bigint)")

  /// Records that a daemon that follows has stopped.
  static let leave = PostgresStatement(
    name: "leave",
    text: """
      UPDATE binder.node SET state = 'stopped', seen = now()
      WHERE name = $1::text AND boot = $2::text
      """)

  /// Sends texts to the sessions that listen to a channel, in order.
  ///
  /// Its commit waits for no disk and no standby, because messages are not kept.
  static let post = PostgresStatement(
    name: "post",
    text: """
      WITH setting AS MATERIALIZED (
        SELECT set_config('synchronous_commit', 'off', true) AS value)
      SELECT pg_notify($1::text, part)
      FROM setting, unnest($2::text[]) AS part WHERE setting.value = 'off'
      """)

  static let keep = PostgresStatement(
    name: "keep", text: "SELECT binder.keep($1::bigint, $2::text, $3::text)")

  /// The events after a position: at most $2, and about $3 bytes.
  static let events = PostgresStatement(
    name: "events",
    text: """
      SELECT \(EventColumns.list)
      FROM (SELECT *, sum(octet_length(data)) OVER (ORDER BY seq) - octet_length(data) AS before
        FROM binder.event WHERE seq > $1::bigint ORDER BY seq LIMIT $2::bigint) AS page
      WHERE before < $3::bigint OR before = 0 ORDER BY seq
      """)

  static let event = PostgresStatement(
    name: "event",
    text: """
      SELECT \(EventColumns.list)
      FROM binder.event WHERE seq = $1::bigint
      """)

  /// The events of a stream, newest first, along their links.
  static let stream = PostgresStatement(
    name: "stream",
    text: """
      WITH RECURSIVE chain AS (
        SELECT e.*, 1 AS place FROM binder.event e WHERE seq = $1::bigint AND stream = $2::text
        UNION ALL
        SELECT e.*, chain.place + 1 FROM chain JOIN binder.event e ON e.seq = chain.previous
        WHERE chain.place < $3::bigint AND e.stream = $2::text)
      SELECT \(EventColumns.list)
      FROM chain ORDER BY place
      """)

  static let bounds = PostgresStatement(
    name: "bounds",
    text: "SELECT (SELECT min(seq) FROM binder.event), (SELECT max(seq) FROM binder.event)")

  static let moment = PostgresStatement(
    name: "moment",
    text: "SELECT seq, time FROM binder.event WHERE seq >= $1::bigint ORDER BY seq LIMIT 1")

  /// The removals that touch a range.
  static let removals = PostgresStatement(
    name: "removals",
    text: """
      SELECT first, last FROM binder.removal
      WHERE first <= $2::bigint AND last >= $1::bigint ORDER BY first
      """)

  static let removedOf = PostgresStatement(
    name: "removed_of",
    text: """
      SELECT last FROM binder.removal
      WHERE first <= $1::bigint AND strpos(services, $2::text) > 0 ORDER BY first DESC LIMIT 1
      """)

  /// A value of the table `journal`.
  static let value = PostgresStatement(
    name: "value", text: "SELECT value FROM binder.journal WHERE key = $1::text")

  static let values = PostgresStatement(
    name: "values", text: "SELECT key, value FROM binder.journal")

  static let snapshots = PostgresStatement(
    name: "snapshots",
    text: """
      SELECT seq, parts::bigint, schema::bigint FROM binder.snapshot
      WHERE service = $1::text AND seq <= $2::bigint AND part = 0 ORDER BY seq DESC
      """)

  static let parts = PostgresStatement(
    name: "parts",
    text: """
      SELECT part::bigint, data, crc FROM binder.snapshot
      WHERE service = $1::text AND seq = $2::bigint ORDER BY part
      """)
}

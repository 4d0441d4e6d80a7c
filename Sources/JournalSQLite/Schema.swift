internal import CSQLite
internal import Glibc
internal import Journal
internal import Model

/// The format of the file.
///
/// README.md beside this file describes it.
enum Schema {
  /// "bndj": tells the file from any other SQLite file.
  static let applicationID: Int32 = 0x626E_646A

  /// The format version; raised when older versions of binderd could not read the file.
  static let version: Int32 = 3

  /// The kind of a file according to its first bytes.
  ///
  /// It is read without SQLite, which would change a file that needs recovery.
  enum Found: Equatable {
    /// A missing or empty file.
    case nothing
    /// A journal of this program, of some version.
    case journal(version: Int)
    case other
  }

  /// Reads the header of a file: <https://www.sqlite.org/fileformat.html#the_database_header>.
  static func look(at path: String) throws(JournalError) -> Found {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else {
      if errno == ENOENT { return .nothing }
      throw .unavailable(detail: "\(path): \(String(cString: strerror(errno)))")
    }
    defer { _ = close(file) }
    var header = [UInt8](repeating: 0, count: 100)
    let count = pread(file, &header, header.count, 0)
    guard count > 0 else {
      if count == 0 { return .nothing }
      throw .unavailable(detail: "\(path): \(String(cString: strerror(errno)))")
    }
    if let found = read(header, count) { return found }
    // If the first page is damaged but complete in the log, SQLite reads it from there.
    guard let page = JournalLog(of: path).firstPage(header.count),
      case .journal(let version)? = read(page, page.count)
    else { return .other }
    return .journal(version: version)
  }

  /// Parses a first page; returns `nil` if it is not that of a journal.
  private static func read(_ header: [UInt8], _ count: Int) -> Found? {
    func integer(at offset: Int) -> Int32 {
      Int32(bitPattern: header[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) })
    }
    guard count == header.count, header.starts(with: "SQLite format 3\0".utf8) else {
      return nil
    }
    let id = integer(at: 68)
    guard id == applicationID else {
      // An interrupted creation has left no tables and no application ID.
      return id == 0 && integer(at: 60) == 0 && integer(at: 28) <= 1 ? .nothing : nil
    }
    return .journal(version: Int(integer(at: 60)))
  }

  /// Creates the tables of a new journal, all or none.
  ///
  /// - Parameter notes: The first notes.
  static func create(
    on database: Database, epoch: String, _ notes: [JournalNote: String] = [:]
  ) throws(SQLiteError) {
    // Before the first table: later it would need a copy of the whole file.
    try database.execute("PRAGMA auto_vacuum = INCREMENTAL")
    try database.execute("PRAGMA journal_mode = WAL")
    // A search for a key of `snapshot` reads whole rows, which are large, to compare their keys. A
    // scan reads only their beginnings: selections hide the key from SQLite with a unary `+`.
    try database.execute(
      """
      BEGIN EXCLUSIVE;
      PRAGMA application_id = \(applicationID);
      PRAGMA user_version = \(version);
      CREATE TABLE event (
        seq      INTEGER PRIMARY KEY,
        time     INTEGER NOT NULL,
        stream   TEXT NOT NULL,
        version  INTEGER NOT NULL,
        previous INTEGER NOT NULL,
        type     TEXT NOT NULL,
        data     TEXT NOT NULL,
        command  TEXT,
        meta     TEXT,
        crc      INTEGER NOT NULL
      ) STRICT;
      CREATE TABLE snapshot (
        service TEXT NOT NULL,
        seq     INTEGER NOT NULL,
        part    INTEGER NOT NULL,
        parts   INTEGER NOT NULL,
        schema  INTEGER NOT NULL,
        data    TEXT NOT NULL,
        crc     INTEGER NOT NULL,
        PRIMARY KEY (service, seq, part)
      ) STRICT, WITHOUT ROWID;
      CREATE TABLE journal (
        key   TEXT PRIMARY KEY,
        value TEXT NOT NULL
      ) STRICT, WITHOUT ROWID;
      \(removalTable);
      INSERT INTO journal VALUES ('epoch', '\(epoch)'), ('first', '1')
      """)
    for (note, text) in notes { try write(text, as: note, to: database) }
    try database.execute("COMMIT")
    // Into the file itself, so that its first bytes identify it from now on.
    try database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
  }

  /// Writes a note.
  static func write(
    _ text: String, as note: JournalNote, to database: Database
  ) throws(SQLiteError) {
    let insert = try Statement("INSERT OR REPLACE INTO journal VALUES (?, ?)", on: database)
    insert.bind(note.rawValue, at: 1)
    insert.bind(text, at: 2)
    try insert.run()
  }

  /// The table of removed events; since version 2.
  private static let removalTable = """
    CREATE TABLE removal (
      first    INTEGER PRIMARY KEY,
      last     INTEGER NOT NULL,
      kept     INTEGER NOT NULL,
      services TEXT NOT NULL
    ) STRICT
    """

  /// Upgrades a journal of an older version to the current format, completely or not at all.
  ///
  /// Since version 3 there is a tail, which older programs would overlook. They look at the first
  /// bytes of the file, so these must have the version before there is a tail.
  ///
  /// - Returns: Whether they have it; `false` if another program that reads prevents that.
  static func raise(_ database: Database) throws(SQLiteError) -> Bool {
    // Not the version in the file: an interrupted upgrade may be in the log only.
    let found = try database.integer("PRAGMA user_version") ?? 0
    if found < version {
      let removals = """
        \(removalTable);
        INSERT INTO journal SELECT 'first', CAST(ifnull(min(seq), 1) AS TEXT) FROM event;
        """
      try database.execute(
        """
        BEGIN EXCLUSIVE;
        \(found < 2 ? removals : "")
        PRAGMA user_version = \(version);
        COMMIT;
        """)
    }
    return try database.emptyLog(waiting: true)
  }

  /// The key of the salt of the tail: the number that the blocks have which belong to the database.
  private static let saltKey = "tail"

  /// Returns the salt of the tail; `nil` if no tail belongs to the database.
  static func salt(in database: Database) throws(SQLiteError) -> UInt64? {
    try database.text("SELECT value FROM journal WHERE key = '\(saltKey)'").flatMap {
      UInt64($0, radix: 16)
    }
  }

  /// Returns the statement that stores a salt.
  static func storing(salt: UInt64) -> String {
    "INSERT OR REPLACE INTO journal VALUES ('\(saltKey)', '\(String(salt, radix: 16))')"
  }

  /// Returns a new epoch: 8 random hexadecimal digits.
  static func makeEpoch() -> String {
    let digits = String(UInt32.random(in: .min ... .max), radix: 16)
    return String(repeating: "0", count: 8 - digits.count) + digits
  }
}

import CSQLite
import EventLoop
import Glibc
import Journal
import JournalSQLite
import Model
import Signals
import TestSupport
import Testing

/// Images of the tail as a power failure or a damaged disk may leave it.
struct TailTests {
  /// A commit in one of the files.
  private struct Commit {
    let file: Int

    /// The bytes of its block, without the padding behind it.
    let range: Range<Int>
    let first: UInt64
    let last: UInt64

    /// The last position that the disk had when it was written, as the block says.
    let flushed: UInt64
  }

  /// The files of a journal whose events are all in the tail.
  private struct Image {
    var database: [UInt8] = []
    var files: [[UInt8]] = []

    /// The files before the last flush.
    var flushedFiles: [[UInt8]] = []
    var commits: [Commit] = []
    var records: [Record] = []

    /// The last position that the disk has.
    var flushed: UInt64 = 0
    var salt: UInt64 = 0
  }

  private static let ends = ["-tail1", "-tail2"]

  private static func number(_ bytes: [UInt8], _ offset: Int, _ count: Int = 8) -> UInt64 {
    bytes[offset..<offset + count].reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// Writes random commits over both files, and takes the files as they are.
  ///
  /// - Parameter flushes: Whether events before the last ones are flushed.
  private static func makeImage(_ random: inout SeededRandom) throws -> Image {
    let directory = try TemporaryDirectory()
    var image = Image()
    let journal = try SQLiteJournal(directory.journal, durability: .os)
    // Nothing can be moved meanwhile.
    let other = openOutside(directory.journal)
    #expect(sqlite3_exec(other, "BEGIN IMMEDIATE", nil, nil, nil) == SQLITE_OK)
    let count = 60
    let end = Int.random(in: 20..<count, using: &random)
    for i in 0..<count {
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        let size = Int.random(in: 0..<(i % 7 == 0 ? 6_000 : 900), using: &random)
        _ = try journal.store.append([
          draft("s\(i % 5)", "\"" + String(repeating: "v", count: size) + "\"")
        ])
      }
      try journal.settle()
      guard i < end, Int.random(in: 0..<4, using: &random) == 0 || i == end - 1 else { continue }
      try awaiting(journal.store.reachDisk()) { try journal.run(until: $0) }
      image.flushed = journal.store.durable
      image.flushedFiles = ends.map { Files.bytes(of: directory.journal + $0) }
    }
    image.files = ends.map { Files.bytes(of: directory.journal + $0) }
    image.records = try replayed(journal.store)
    // The database alone, without its log.
    let copy = openOutside(directory.path + "/copy.db")
    let source = openOutside(directory.journal)
    let backup = sqlite3_backup_init(copy, "main", source, "main")
    #expect(sqlite3_backup_step(backup, -1) == SQLITE_DONE)
    sqlite3_backup_finish(backup)
    for database in [copy, source, other] { sqlite3_close(database) }
    image.database = Files.bytes(of: directory.path + "/copy.db")
    for (file, bytes) in image.files.enumerated() {
      var offset = 0
      while offset + 48 <= bytes.count, number(bytes, offset, 4) == 0x3154_4442 {
        image.salt = number(bytes, offset + 8)
        let first = number(bytes, offset + 16)
        let size = Int(number(bytes, offset + 32, 4))
        image.commits.append(
          Commit(
            file: file, range: offset..<offset + 48 + size, first: first,
            last: first + number(bytes, offset + 36, 4) - 1, flushed: number(bytes, offset + 24)))
        offset += (48 + size + 7) / 8 * 8
      }
    }
    #expect(
      image.commits.map(\.first).sorted() == image.commits.map(\.first), "one use of each file")
    #expect(image.commits.count == count)
    return image
  }

  /// The events that a reader finds, and the position of the damage that it reports.
  private struct Found: Equatable {
    var end: UInt64
    var damage: UInt64?
  }

  /// Reads the events in an image, and checks that they are those that were written.
  private func read(_ image: Image, _ path: String) throws -> Found {
    Files.write(image.database, to: path)
    for (end, bytes) in zip(Self.ends, image.files) { Files.write(bytes, to: path + end) }
    var position: UInt64 = 0
    do throws(JournalError) {
      try JournalSource(path: path).read(onPage: { _ in }) { part in
        guard case .events(let records) = part else { return }
        for record in records {
          #expect(record == image.records[Int(position)])
          position += 1
        }
      }
    } catch {
      guard case .corrupt(let seq, _) = error else { throw error }
      return Found(end: position, damage: seq)
    }
    return Found(end: position)
  }

  /// Returns what is expected of an image, some of whose commits are damaged.
  private func expected(_ image: Image, without damaged: Set<Int>, upTo last: Int) -> Found {
    let whole = image.commits.indices.filter { $0 < last && !damaged.contains($0) }
    let certain = whole.map { image.commits[$0].flushed }.max() ?? 0
    var end: UInt64 = 0
    for index in whole where image.commits[index].first == end + 1 {
      end = image.commits[index].last
    }
    return Found(end: end, damage: end < certain ? end + 1 : nil)
  }

  private func change(_ image: inout Image, _ commit: Commit, _ random: inout SeededRandom) {
    let offset = Int.random(in: commit.range, using: &random)
    image.files[commit.file][offset] ^= 1 << UInt8.random(in: 0..<8, using: &random)
  }

  @Test(arguments: 1...8 as ClosedRange<UInt64>)
  func `16: a power failure leaves all flushed events, and no others but the next ones`(
    seed: UInt64
  ) throws {
    var random = SeededRandom(seed: seed)
    let whole = try Self.makeImage(&random)
    let directory = try TemporaryDirectory()
    #expect(try read(whole, directory.journal) == Found(end: UInt64(whole.records.count)))
    var ends: Set<UInt64> = []
    for _ in 0..<300 {
      var image = whole
      // Of what was not flushed the disk has any sectors, old and new ones.
      let last = Int.random(in: 0...whole.commits.count, using: &random)
      for (index, commit) in whole.commits.enumerated() where commit.first > whole.flushed {
        let sectors = commit.range.lowerBound / 512...(commit.range.upperBound - 1) / 512
        for sector in sectors
        where index >= last || Int.random(in: 0..<12, using: &random) == 0 {
          let bytes = commit.range.clamped(to: sector * 512..<sector * 512 + 512)
          for byte in bytes {
            let old = whole.flushedFiles[commit.file]
            image.files[commit.file][byte] = byte < old.count ? old[byte] : 0
          }
        }
      }
      let damaged = Set(
        whole.commits.indices.filter {
          let commit = whole.commits[$0]
          return image.files[commit.file][commit.range] != whole.files[commit.file][commit.range]
        })
      let found = try read(image, directory.journal)
      #expect(found == expected(image, without: damaged, upTo: whole.commits.count))
      #expect(found.damage == nil)
      #expect(found.end >= whole.flushed)
      ends.insert(found.end)
    }
    #expect(ends.count > 3, "the images differ")
  }

  @Test(arguments: 1...8 as ClosedRange<UInt64>)
  func `16: a damaged block is the end, or an error if the disk had a later one`(
    seed: UInt64
  ) throws {
    var random = SeededRandom(seed: seed)
    let whole = try Self.makeImage(&random)
    let directory = try TemporaryDirectory()
    var (errors, others) = (0, 0)
    for round in 0..<150 {
      var (image, damaged) = (whole, Set<Int>())
      switch round % 4 {
      case 0:
        // A flipped bit, or two.
        for _ in 0..<Int.random(in: 1...2, using: &random) {
          let index = Int.random(in: whole.commits.indices, using: &random)
          change(&image, whole.commits[index], &random)
        }
      case 1:
        // A sector of zeros.
        let index = Int.random(in: whole.commits.indices, using: &random)
        let commit = whole.commits[index]
        let start = Int.random(in: commit.range, using: &random) / 512 * 512
        for byte in start..<min(start + 512, image.files[commit.file].count) {
          image.files[commit.file][byte] = 0
        }
      case 2:
        // A file is cut, or missing.
        let file = Int.random(in: 0..<2, using: &random)
        let most = whole.commits.filter { $0.file == file }.last?.range.upperBound ?? 0
        let count =
          Int.random(in: 0..<5, using: &random) == 0 ? 0 : Int.random(in: 0...most, using: &random)
        image.files[file].removeLast(image.files[file].count - count)
      default:
        // A block that is in another place.
        let index = Int.random(in: whole.commits.indices, using: &random)
        let from = whole.commits[index].range
        let size = min(512, from.count)
        let target = Int.random(in: 0..<(image.files[0].count - size) / 8, using: &random) * 8
        let moved = Array(whole.files[whole.commits[index].file][from.prefix(size)])
        image.files[0].replaceSubrange(target..<target + size, with: moved)
      }
      for (index, commit) in whole.commits.enumerated() {
        let bytes = image.files[commit.file]
        if commit.range.upperBound > bytes.count
          || bytes[commit.range] != whole.files[commit.file][commit.range]
        {
          damaged.insert(index)
        }
      }
      let found = try read(image, directory.journal)
      let wanted = expected(image, without: damaged, upTo: whole.commits.count)
      #expect(found == wanted, "round \(round), damaged \(damaged)")
      if found.damage == nil { others += 1 } else { errors += 1 }
      // A start agrees, and changes nothing if it refuses.
      guard round % 10 == 0 else { continue }
      do {
        let journal = try SQLiteJournal(directory.journal)
        #expect(journal.store.last == wanted.end)
        #expect(wanted.damage == nil)
        #expect(try replayed(journal.store) == Array(whole.records.prefix(Int(wanted.end))))
      } catch JournalError.corrupt(let seq, _) {
        #expect(seq == wanted.damage)
        for (end, bytes) in zip(Self.ends, image.files) {
          #expect(Files.bytes(of: directory.journal + end) == bytes)
        }
      }
      for end in ["", "-wal", "-shm", ".lock"] + Self.ends { unlink(directory.journal + end) }
    }
    #expect(errors > 10)
    #expect(others > 10)
  }

  @Test(arguments: [true, false])
  func `16: a database that ends within a block gets the rest of the block`(
    isSameBoot: Bool
  ) throws {
    let directory = try TemporaryDirectory()
    var files: [String: [UInt8]] = [:]
    do {
      let journal = try SQLiteJournal(directory.journal, durability: .os)
      for i in 1...3 { _ = journal.store.append(draft("s", "\(i)"), at: journal.store.now) }
      journal.store.seal(meta: nil)
      try journal.settle()
      for end in [".lock"] + Self.ends { files[end] = Files.bytes(of: directory.journal + end) }
    }
    // The clean end has moved all three; as if it had been killed after the first.
    let database = openOutside(directory.journal)
    #expect(sqlite3_exec(database, "DELETE FROM event WHERE seq > 1", nil, nil, nil) == SQLITE_OK)
    sqlite3_close(database)
    if !isSameBoot {
      files[".lock"] = nil
      unlink(directory.journal + ".lock")
    }
    for (end, bytes) in files { Files.write(bytes, to: directory.journal + end) }
    #expect(try JournalCheck(path: directory.journal).run().count == 3)
    let journal = try SQLiteJournal(directory.journal)
    #expect(try replayed(journal.store).map(\.data) == ["1", "2", "3"])
  }

  @Test
  func `16: blocks of an earlier session are not read, also if they would fit`() throws {
    let directory = try TemporaryDirectory()
    var stale: [[UInt8]] = []
    do {
      let journal = try SQLiteJournal(directory.journal, durability: .os)
      for i in 1...5 {
        _ = try journal.store.append([draft("s", "\(i)")])
        try journal.settle()
      }
      stale = Self.ends.map { Files.bytes(of: directory.journal + $0) }
    }
    for end in ["", "-wal"] { unlink(directory.journal + end) }
    unlink(directory.journal + ".lock")
    do {
      let journal = try SQLiteJournal(directory.journal, durability: .os)
      withExtendedLifetime(journal) {}
    }
    for (end, bytes) in zip(Self.ends, stale) { Files.write(bytes, to: directory.journal + end) }
    #expect(try JournalSource(path: directory.journal).last == 0)
    let journal = try SQLiteJournal(directory.journal)
    #expect(journal.store.last == 0)
  }

  @Test
  func `a clean end leaves no tail, and a start moves all of it into the database`() throws {
    let directory = try TemporaryDirectory()
    var files: [String: [UInt8]] = [:]
    do {
      let journal = try SQLiteJournal(directory.journal)
      for i in 1...300 { _ = try journal.store.append([draft("s", "\(i)")]) }
      try journal.settle()
      for end in ["", "-wal", ".lock"] + Self.ends {
        files[end] = Files.bytes(of: directory.journal + end)
      }
    }
    #expect(Files.names(in: directory.path) == ["journal.db", "journal.db.lock"])
    for (end, bytes) in files { Files.write(bytes, to: directory.journal + end) }
    // Tools read it without changing it.
    #expect(try JournalCheck(path: directory.journal).run().count == 300)
    let inspection = try JournalInspection(of: directory.journal)
    #expect(inspection.count == 300 && inspection.last == 300 && inspection.streams == 1)
    #expect(Files.bytes(of: directory.journal + "-tail1") == files["-tail1"])
    do {
      let reading = try SQLiteJournal(directory.journal, durability: nil)
      #expect(try replayed(reading.store).map(\.data) == (1...300).map { "\($0)" })
      #expect(try reading.read { reader throws(JournalError) in try reader.bounds().last } == 300)
    }
    let journal = try SQLiteJournal(directory.journal)
    #expect(journal.store.renewal == nil)
    #expect(try replayed(journal.store).count == 300)
  }

  @Test
  func `the files of the tail are used again and again`() throws {
    let directory = try TemporaryDirectory()
    let journal = try SQLiteJournal(directory.journal, durability: .os)
    let filler = "\"" + String(repeating: "x", count: 3_000) + "\""
    for _ in 0..<30_000 {
      _ = try journal.store.append([draft("s", filler)])
      try journal.settle()
    }
    // Ninety million bytes have passed.
    #expect(Self.ends.allSatisfy { Files.size(of: directory.journal + $0) <= 8 << 20 })
    #expect(try replayed(journal.store).count == 30_000)
  }

  @Test
  func `a commit larger than the files is durable`() throws {
    let directory = try TemporaryDirectory()
    let journal = try SQLiteJournal(directory.journal)
    let filler = "\"" + String(repeating: "x", count: 3_000_000) + "\""
    for _ in 0..<4 {
      for _ in 0..<4 { _ = journal.store.append(draft("s", filler), at: journal.store.now) }
      journal.store.seal(meta: nil)
      _ = try journal.store.append([draft("s", "1")])
      try journal.settle()
    }
    #expect(try replayed(journal.store).count == 20)
    // The files shrink again.
    for _ in 0..<6_000 {
      _ = try journal.store.append([draft("s", "\"" + String(repeating: "x", count: 9_000) + "\"")])
      try journal.settle()
    }
    #expect(Self.ends.allSatisfy { Files.size(of: directory.journal + $0) <= 8 << 20 })
  }
}

internal import Facts
internal import Journal

/// A factory for readers: if opening fails, every reading throws the error.
enum FailingReader {
  static func open(_ path: String) -> any JournalReader {
    do throws(JournalError) {
      return try JournalFiles.openReader(path)
    } catch {
      return Closed(error: error)
    }
  }

  private struct Closed: JournalReader {
    let error: JournalError

    func records(after seq: UInt64, limit: Int) throws(JournalError) -> [Record] { throw error }
    func records(
      ofStream stream: String, from seq: UInt64, limit: Int
    ) throws(JournalError) -> [Record] { throw error }
    func snapshot(of service: String, upTo seq: UInt64) throws(JournalError) -> Snapshot? {
      throw error
    }
    func position(at time: Int64) throws(JournalError) -> UInt64 { throw error }
    func bounds() throws(JournalError) -> (first: UInt64, last: UInt64) { throw error }
    func lastRemoval(of service: String, upTo seq: UInt64) throws(JournalError) -> UInt64 {
      throw error
    }
  }
}

internal import CSupport

/// The event that a thread applies to a state, for the message of a program that it stops.
///
/// A trap in the code of a service cannot be caught. Without the event nobody knows which one a start
/// cannot apply.
package enum AppliedEvent {
  /// Lets a trap write its event to the standard error.
  package static func reportTraps() { cposix_report_traps() }

  /// Begins an event.
  package static func begin(_ record: Record) {
    var type = record.type
    type.withUTF8 { bytes in
      unsafe cposix_begin_event(record.seq, bytes.baseAddress, bytes.count)
    }
  }

  /// Ends an event.
  package static func end() { cposix_end_event() }
}

internal import Configuration
internal import Connections
internal import EventSourcing
internal import JSON
internal import Signals
internal import Wire

extension CallContext {
  /// Runs a command, and answers it once all that bindings write because of it is durable.
  func performSettled<Failure: Error>(
    _ call: Call, _ run: () throws(Failure) -> Accepted,
    _ write: @escaping (Accepted, _ room: Int, _ effects: JSONText, inout ByteBuffer) -> Void
  ) throws(Failure) {
    // A command that has run must not be answered with a limit.
    do throws(WireError) { try connection.checkLate() } catch { return call.refuse(error) }
    let before = host.last
    let accepted = try run()
    if let seq = accepted.seq { connection.recordWrite(upTo: seq) }
    let room = call.room - Self.answerBytes
    guard let call = call.later(isLong: true, isLimited: false) else { return }
    call.markBegun()
    let finish = { [self] (effects: Effects) in
      let text = text(of: effects, within: room)
      host.finish(accepted).answer(call, catalog) { accepted in
        call.answer { write(accepted, room - text.text.utf8.count, text, &$0) }
      }
    }
    guard let follower = catalog.commandParts.effects, host.last > before, !accepted.isReplayed
    else {
      return host.durability(of: host.last).answer(call, catalog) { finish(Effects()) }
    }
    let events = before + 1...host.last
    call.keep(follower.follow(events, readable: role.mayRead, finish))
    // The events may be lost.
    call.keep(
      host.durability(of: events.upperBound).observe { [catalog] event in
        if case .failed(let fault) = event { call.refuse(catalog.error(fault)) }
      })
  }

  private func text(of effects: Effects, within room: Int) -> JSONText {
    if let text = try? catalog.encoder.text(effects), text.text.utf8.count <= room { return text }
    var short = effects
    let count = effects.writes.count + (effects.refused?.count ?? 0)
    (short.writes, short.more) = ([], count + (effects.more ?? 0))
    (short.refused, short.waiting) = (effects.refused.map { _ in [] }, [])
    return (try? catalog.encoder.text(short)) ?? .null
  }
}

internal import Connections
internal import JSON
internal import Wire

/// Offers `cancel`, which cancels a call in flight.
func bindCancel(_ catalog: Catalog) {
  catalog.query(
    "cancel", "Cancels a call of this connection that is in flight.", Cancel.self,
    .members(.init("id", .any), .init("was", .words(["active", "recorded", "unknown"]))),
    kind: .prompt
  ) { _, call, cancel in
    switch cancel.id.value {
    case .string, .number, .null: break
    case .bool, .array, .object:
      return call.refuse(.unusable("id", "an id is a string, a number or null", "another value"))
    }
    let fate = call.connection.cancel(RequestID(text: cancel.id.text))
    call.answer { buffer in
      buffer.object {
        $0.member("id", cancel.id)
        $0.member("was", fate.rawValue)
      }
    }
  }
}

private struct Cancel: DocumentedParameters {
  let id: JSONText

  static let docs = ["id": "The id of the call, as it was sent."]
}

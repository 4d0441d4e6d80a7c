internal import JSON

extension JournalFold {
  /// The changes of the command window and of the stream heads between snapshot forms.
  ///
  /// In its first three forms, the window is `{"entries":{id:entry},"order":[id],"oldest":n}`. An
  /// entry is `{"seq","version","time","call","value"?,"isInJournal"}`. The entries are in
  /// `order` from the index `oldest` on.
  static var upcasters: [Upcaster] {
    [
      // 1: lacks "isInJournal", because all answers were stored in the window.
      { changed($0) { $0["isInJournal"] = JSONText(false) } },
      // 2: ids are plain keys, because keys were not scoped by user; 3: ids are "uid key".
      { window($0) { $0.renamed { "* " + $0 } } },
      // 3: all users share one window; 4: each user has a window, see ``CommandWindow/kept``.
      { window($0) { $0.byUser } },
      // 4: a head is [seq,version]; 5: it includes the charged user. Both can be read.
      { $0 },
    ]
  }

  private static func window(
    _ kept: JSONText, _ change: (OldWindow) -> JSONText?
  ) -> JSONText {
    guard var members = kept.members, let window = members["window"].flatMap(OldWindow.init) else {
      return .null
    }
    members["window"] = change(window)
    return JSONText(members: members)
  }

  private static func changed(
    _ kept: JSONText, _ change: (inout [String: JSONText]) -> Void
  ) -> JSONText {
    window(kept) { window in
      var window = window
      for (id, entry) in window.entries {
        guard var members = entry.members else { return nil }
        change(&members)
        window.entries[id] = JSONText(members: members)
      }
      return window.text
    }
  }
}

/// The command window in its first three forms.
private struct OldWindow {
  var entries: [String: JSONText]

  /// The ids by age; may contain duplicates and ids without an entry.
  var order: [String]

  init?(_ text: JSONText) {
    guard let members = text.members, let entries = members["entries"]?.members,
      let order = members["order"]?.elements, let oldest = members["oldest"]?.number?.int64,
      0...Int64(order.count) ~= oldest
    else { return nil }
    self.entries = entries
    self.order = order[Int(oldest)...].compactMap(\.string)
  }

  var text: JSONText {
    JSONText(members: [
      "entries": JSONText(members: entries),
      "order": JSONText(elements: order.map { JSONText(string: $0) }), "oldest": JSONText(0),
    ])
  }

  func renamed(_ rename: (String) -> String) -> JSONText {
    var window = self
    window.entries = [:]
    for (id, entry) in entries { window.entries[rename(id)] = entry }
    window.order = order.map(rename)
    return window.text
  }

  /// The window in its fourth form; `nil` if an entry is malformed.
  var byUser: JSONText? {
    var users: [String: [JSONText]] = [:]
    var seen: Set<String> = []
    for id in order.reversed() where seen.insert(id).inserted {
      guard let entry = entries[id] else { continue }
      let parts = id.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2, let members = entry.members, let seq = members["seq"],
        let version = members["version"], let time = members["time"], let call = members["call"]
      else { return nil }
      var command = [JSONText(string: String(parts[1])), seq, version, time, call]
      if members["isInJournal"]?.bool == true {
        command += [.null, JSONText(true)]
      } else if let value = members["value"] {
        command.append(value)
      }
      users[String(parts[0]), default: []].append(JSONText(elements: command))
    }
    return JSONText(members: users.mapValues { JSONText(elements: $0.reversed()) })
  }
}

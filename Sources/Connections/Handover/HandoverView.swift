package import JSON
package import Wire

/// A view that a client knows, as it survives a restart of the daemon.
///
/// Its content does not survive: the client gets all of it again.
package struct HandoverView: Codable, Equatable {
  package let binder: String
  let style: String

  /// The handle of the parent, as JSON; `nil` for a view that the client has opened by name.
  package let parent: String?

  /// The arguments with which it was opened; `nil` if the parent opens it by itself.
  package let arguments: JSONText?

  /// The text of the view, if its client has brought one.
  package let text: JSONText?

  /// The number of children that it has opened.
  let childCount: Int

  /// The values that its binder remembers; see ``View/remember(_:_:restore:)``.
  package let memory: [String: JSONText]

  private enum CodingKeys: String, CodingKey {
    case binder, style, parent, memory, text
    case arguments = "args"
    case childCount = "count"
  }
}

extension OpenViews {
  /// Keeps the views that the client knows.
  func keep(in kept: HandoverClient) {
    guard hasChanged else { return }
    hasChanged = false
    let encoder = client.context.views.encoder
    kept.replace(
      .view,
      by: all.filter(\.delivery.isTold).compactMap { view in
        (try? encoder.text(view.kept)).map { HandoverItem(.view, view.handle.text.text, $0) }
      })
  }

  /// Opens the views again that the client knows from an earlier daemon.
  ///
  /// Those that cannot be opened are reported as closed.
  ///
  /// - Parameters:
  ///   - views: The views by handle, parents before their children.
  ///   - open: Opens a view by the name of its binder.
  package func restore(
    _ views: [(handle: Handle, kept: HandoverView)],
    _ open: (HandoverView, Handle) throws(WireError) -> Void
  ) {
    returning = views.map { ReturningView(handle: $0.handle, kept: $0.kept) }
    var missing: [ClosedView] = []
    for (handle, kept) in views {
      if self[handle] == nil {
        if let parent = kept.parent {
          let parent = all.first { $0.handle.text.text == parent }
          if let arguments = kept.arguments { parent?.restart.reopeners[kept.binder]?(arguments) }
        } else {
          do throws(WireError) {
            try open(kept, handle)
          } catch {
            fail(handle, error)
            continue
          }
        }
      }
      guard let view = self[handle] else {
        missing.insert(ClosedView(handle: handle, reason: "failed", ancestors: []), at: 0)
        continue
      }
      view.recall(kept)
    }
    returning = []
    addClosed(missing)
  }

  /// Returns the view from an earlier daemon that a parent opens again; `nil` if it is a new one.
  func removeReturning(_ binder: String, of parent: View) -> ReturningView? {
    let name = parent.handle.text.text
    guard
      let i = returning.firstIndex(where: { $0.kept.parent == name && $0.kept.binder == binder })
    else { return nil }
    return returning.remove(at: i)
  }

  /// Returns the view from an earlier daemon that the client has opened by name.
  func removeReturning(_ handle: Handle) -> ReturningView? {
    guard let i = returning.firstIndex(where: { $0.handle == handle && $0.kept.parent == nil })
    else { return nil }
    return returning.remove(at: i)
  }
}

/// A view from an earlier daemon that is not open yet.
struct ReturningView {
  let handle: Handle
  let kept: HandoverView
}

/// The ways to bring a view back after a restart of the daemon, given by its binder.
struct ViewRestart {
  /// A part of a view's state that is neither in the journal nor in the arguments.
  struct Memory {
    let state: () -> JSONText
    let restore: (JSONText) -> Void
  }

  /// The parts of the state, by name.
  var memories: [String: Memory] = [:]

  /// The ways to open children again, by binder.
  var reopeners: [String: (JSONText) -> Void] = [:]

  /// The state now.
  var memory: [String: JSONText] { memories.mapValues { $0.state() } }
}

extension View {
  fileprivate var kept: HandoverView {
    HandoverView(
      binder: binder, style: style.rawValue, parent: parent?.handle.text.text,
      arguments: origin.arguments, text: origin.text, childCount: childCount,
      memory: restart.memory)
  }

  fileprivate func recall(_ kept: HandoverView) {
    for (name, text) in kept.memory { restart.memories[name]?.restore(text) }
    markDirty()
  }

  /// Lets a part of the view's state survive a restart of the daemon, for example what was searched.
  ///
  /// - Parameters:
  ///   - state: Returns the state; called after each intent of the client.
  ///   - restore: Sets it again, after the binder has filled the view.
  package func remember(
    _ name: String, _ state: @escaping () -> JSONText, restore: @escaping (JSONText) -> Void
  ) {
    restart.memories[name] = ViewRestart.Memory(state: state, restore: restore)
  }

  /// Lets a child view that was opened with arguments be opened again after a restart.
  package func reopens(_ binder: String, _ open: @escaping (JSONText) -> Void) {
    restart.reopeners[binder] = open
  }
}

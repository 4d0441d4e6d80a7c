internal import Wire

/// The subscriptions of a client and their handles.
struct SubscriptionList {
  private static let endedNamesKept = 64

  private(set) var all: [Subscription] = []

  /// The number of subscriptions whose updates take time to select.
  private(set) var costlyCount = 0

  /// The index of the subscription that is next, if not all had time.
  var next = 0

  /// The most recent names of ended subscriptions, oldest first; at most 64.
  private(set) var endedNames: [String] = []

  /// The last handle number that was assigned.
  private(set) var lastNumber = 0

  subscript(handle: Handle) -> Subscription? { all.first { $0.handle == handle } }

  mutating func append(_ subscription: Subscription) {
    all.append(subscription)
    if subscription.isCostly { costlyCount += 1 }
  }

  /// Removes a subscription and remembers its name.
  ///
  /// - Returns: Whether it was there.
  mutating func remove(_ subscription: Subscription) -> Bool {
    guard let i = all.firstIndex(where: { $0 === subscription }) else { return false }
    all.remove(at: i)
    if subscription.isCostly { costlyCount -= 1 }
    if case .name(let name) = subscription.handle { remember(name) }
    return true
  }

  /// Removes and returns all subscriptions.
  mutating func removeAll() -> [Subscription] {
    defer { all = [] }
    return all
  }

  private mutating func remember(_ name: String) {
    if let i = endedNames.firstIndex(of: name) {
      endedNames.remove(at: i)
    } else if endedNames.count == Self.endedNamesKept {
      endedNames.removeFirst()
    }
    endedNames.append(name)
  }

  /// Returns the next number that no subscription has as its handle.
  mutating func assignNumber() -> Int {
    repeat { lastNumber += 1 } while self[.number(lastNumber)] != nil
    return lastNumber
  }

  /// Lets the numbers of new handles begin after one.
  mutating func skipNumbers(upTo number: Int) { lastNumber = max(lastNumber, number) }
}

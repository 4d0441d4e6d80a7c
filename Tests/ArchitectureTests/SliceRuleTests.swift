import FoundationEssentials
import Testing

/// Work that follows from a commit, a change or a timer is charged to a user, or is known to be short.
///
/// Each file that is called then is in the table with the reason, so that a new one is thought about;
/// see the section on turns in `Documentation/architecture.md`.
struct SliceRuleTests {
  private let sources = #filePath.replacing(
    "Tests/ArchitectureTests/SliceRuleTests.swift", with: "Sources/")

  /// The way in which the calls in a file are limited.
  private enum Charge {
    /// Queues the work for its user, or runs it as work.
    case sliced
    /// Notes the change; what is sent is charged when it is sent.
    case noted
    /// Does the same few things for each call.
    case short
    /// Passes changes on to others in this table.
    case passed
  }

  private static let files: [String: Charge] = [
    "API/Catalog/ConnectionBinder.swift": .short, "API/Catalog/Sources.swift": .passed,
    "API/Catalog/ValueCollection.swift": .noted,
    "API/FileViews/LineChanges.swift": .sliced,
    "API/FileViews/FileViewIntents.swift": .sliced, "API/FileViews/ProgramViews.swift": .sliced,
    "API/FileViews/QueuedCalls.swift": .noted,
    "API/FileViews/RowSource.swift": .noted,
    "API/FileViews/ShownSource.swift": .sliced,
    "API/Forwarding/Forwarder.swift": .short,
    "API/Methods/AwaitedSource.swift": .sliced, "API/Methods/KickBinder.swift": .short,
    "API/Subscriptions/Subscribe.swift": .passed, "Connections/Broadcast.swift": .short,
    "Connections/Call.swift": .short, "Connections/CollectionSubscription.swift": .noted,
    "Connections/Connection.swift": .short, "Connections/ConnectionContext.swift": .short,
    "Connections/Handover/Handover.swift": .short, "Connections/LogSource.swift": .noted,
    "Connections/LogSubscription.swift": .short,
    "Connections/PatternBroadcast.swift": .noted,
    "Connections/Sockets/RefusalLog.swift": .short, "Connections/StateSubscription.swift": .noted,
    "Connections/Subscription.swift": .short, "Connections/Views/SharedContent.swift": .noted,
    "Connections/WorkSubscription.swift": .short, "Features/Bindings/BindingInput.swift": .sliced,
    "Features/Bindings/BindingRetries.swift": .short,
    "Features/Bindings/BindingsBinder.swift": .short,
    "Features/Bindings/EffectFollowing.swift": .short,
    "Features/Bindings/LiveBinding.swift": .short, "Features/Bindings/LiveBindings.swift": .sliced,
    "Features/Bindings/Schedule.swift": .sliced, "Features/Journal/Compaction.swift": .sliced,
    "Features/Journal/JournalService.swift": .short,
    "Features/Leases/LeasesService.swift": .sliced, "Features/Locks/LocksBinder.swift": .short,
    "Features/Locks/LocksService.swift": .short, "Features/Programs/OpenCall.swift": .short,
    // On the thread of a reader.
    "Features/Past/TrialClock.swift": .passed, "Features/Past/TrialRule.swift": .passed,
    "Features/Programs/Programs.swift": .short, "Features/Readers/ReaderHolders.swift": .short,
    "Features/Readers/SharedReader.swift": .sliced,
    "Features/Scripts/ScriptService.swift": .short,
    "Features/Types/SilenceWatch.swift": .short, "Features/Types/TypesService.swift": .short,
    "Features/Scripts/ScriptsService.swift": .noted,
    "Apps/Chat/ChatService.swift": .short,
    "Apps/Chat/MessageWindow.swift": .noted, "Apps/Chat/MessagesService.swift": .passed,
    "Apps/Chat/ReadMarks.swift": .short, "Apps/Feeds/FeedsService+Loading.swift": .passed,
    "Apps/Feeds/FeedsService.swift": .passed,
    "Apps/Users/PresenceService.swift": .passed,
    "Apps/Users/ClientSession.swift": .short, "Apps/Users/ProfileService.swift": .passed,
    "Apps/Users/UsersService.swift": .short,
  ]

  @Test
  func `each file that commits and timers call is known, with what limits its work`() throws {
    var found: Set<String> = []
    for target in ["API", "Connections", "Features", "Apps"] {
      for file in try FileManager.default.subpathsOfDirectory(atPath: sources + target)
      where file.hasSuffix(".swift") {
        let data = FileManager.default.contents(atPath: "\(sources)\(target)/\(file)") ?? Data()
        let text = String(decoding: data, as: UTF8.self)
        let isCalled = ["observeNext", "schedule(after", "atTurnEnd"].contains(where: text.contains)
        if isCalled { found.insert("\(target)/\(file)") }
      }
    }
    #expect(found.subtracting(Self.files.keys).sorted() == [], "say what limits their work")
    #expect(Set(Self.files.keys).subtracting(found).sorted() == [], "they are not called any more")
  }
}

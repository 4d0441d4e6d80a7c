import FoundationEssentials
import Testing

/// Work that follows from a commit, a change, a timer or an answer of another thread is charged to a
/// user, or is known to be short.
///
/// Each file that is called then is in the table with the reason and the number of its calls that ask
/// for that, so that a new one is thought about; see the section on turns in
/// `Documentation/architecture.md`. What operators between a signal and its observer do belongs to the
/// observer.
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
    /// Passes changes on to others in this table, or to a function that the caller gives.
    case passed
    /// Carries out one command, whose size its method limits; see `MethodWorkTests`.
    case command
    /// Runs while there are no clients, or on the thread of a reader.
    case alone
  }

  /// The targets whose code runs on the loop of the daemon.
  private static let targets = [
    "API", "Adapters", "AppAdapters", "Apps", "Binder", "BinderDaemon", "Connections", "EventLoop",
    "EventSourcing", "Features", "Journal", "JournalMemory", "JournalPostgres", "JournalSQLite",
    "LuaScripts",
  ]

  /// The calls with which work begins outside of a request.
  private static let words = [
    ".observe(", ".observe {", ".observeNext(", ".observeNext {", ".observeFailed",
    ".observeCompleted", ".bind(to:", "schedule(", "schedule {", ".every(", "atTurnEnd(",
    "atTurnEnd {", "onTurnEnd(", "onTurnEnd {", "Timer(on:", "Mailbox(on:", "Mailbox<",
    "DescriptorWatch(", ".answer(call, catalog", ".answer(call, context.catalog",
  ]

  private static let files: [String: (charge: Charge, calls: Int)] = [
    "API/Catalog/Commands.swift": (.short, 1),
    "API/Catalog/ConnectionBinder.swift": (.short, 4),
    "API/Catalog/ListedParameters.swift": (.short, 1),
    "API/Catalog/SettledCommands.swift": (.short, 3),
    "API/Catalog/Sources.swift": (.passed, 1),
    "API/Catalog/ValueCollection.swift": (.noted, 2),
    "API/FileViews/FileView.swift": (.passed, 4),
    "API/FileViews/FileViewIntents.swift": (.sliced, 1),
    "API/FileViews/LineChanges.swift": (.sliced, 1),
    "API/FileViews/ProgramViews.swift": (.sliced, 1),
    "API/FileViews/QueuedCalls.swift": (.noted, 1),
    "API/FileViews/RowSource.swift": (.noted, 1),
    "API/FileViews/RowTable.swift": (.noted, 1),
    "API/FileViews/ShownSource.swift": (.sliced, 6),
    "API/Forwarding/Forwarder.swift": (.short, 2),
    "API/Methods/AwaitedSource.swift": (.sliced, 1),
    "API/Methods/HistoryBinder.swift": (.short, 5),
    "API/Methods/KickBinder.swift": (.short, 1),
    "API/Subscriptions/PartFinder.swift": (.short, 1),
    "API/Subscriptions/Subscribe.swift": (.passed, 1),
    "API/Subscriptions/SubscribeLog.swift": (.short, 1),
    "API/Transformers/JSONOperators.swift": (.short, 1),
    "AppAdapters/HTTP/CurlClient.swift": (.short, 2),
    "AppAdapters/SearchSQLite/TextIndex.swift": (.noted, 2),
    "Apps/Chat/ChatService.swift": (.short, 1),
    "Apps/Chat/MessageWindow.swift": (.noted, 3),
    "Apps/Chat/MessagesService.swift": (.passed, 1),
    "Apps/Chat/ReadMarks.swift": (.short, 3),
    "Apps/Chat/RoomView.swift": (.short, 1),
    "Apps/Chat/SelectedHit.swift": (.short, 1),
    "Apps/Feeds/FeedsBinder.swift": (.short, 1),
    "Apps/Feeds/FeedsService+Loading.swift": (.passed, 4),
    "Apps/Feeds/FeedsService.swift": (.passed, 5),
    "Apps/People/PeopleViews.swift": (.short, 2),
    "Apps/People/PersonModel.swift": (.passed, 1),
    "Apps/People/PersonViewModel.swift": (.short, 1),
    "Apps/Search/WebSearch.swift": (.short, 1),
    "Apps/Threads/ThreadViews.swift": (.short, 1),
    "Apps/Users/ClientSession.swift": (.short, 2),
    "Apps/Users/PresenceService.swift": (.passed, 1),
    "Apps/Users/ProfileService.swift": (.passed, 3),
    "Apps/Users/UserViews.swift": (.short, 1),
    "Apps/Users/UsersService.swift": (.short, 4),
    "Binder/Host.swift": (.passed, 3),
    "Binder/HostTimers.swift": (.passed, 1),
    "Binder/Ledger+Rows.swift": (.passed, 1),
    "Binder/View.swift": (.passed, 10),
    "BinderDaemon/Daemon.swift": (.passed, 8),
    "BinderDaemon/DaemonClock.swift": (.passed, 2),
    "BinderDaemon/JournalCare.swift": (.short, 1),
    "BinderDaemon/JournalWatch.swift": (.short, 4),
    "BinderDaemon/OfflineMaintenance.swift": (.alone, 1),
    "BinderDaemon/RunDaemon.swift": (.short, 3),
    "BinderDaemon/Shutdown.swift": (.short, 1),
    "Connections/Broadcast.swift": (.short, 1),
    "Connections/Call.swift": (.short, 2),
    "Connections/CollectionSubscription.swift": (.noted, 1),
    "Connections/Connection.swift": (.short, 1),
    "Connections/ConnectionContext.swift": (.short, 1),
    "Connections/Handover/Handover.swift": (.short, 1),
    "Connections/LogSource.swift": (.noted, 1),
    "Connections/LogSubscription.swift": (.short, 2),
    "Connections/PatternBroadcast.swift": (.noted, 1),
    "Connections/Sockets/RefusalLog.swift": (.short, 1),
    "Connections/Sockets/SocketServer.swift": (.passed, 1),
    "Connections/StateSubscription.swift": (.noted, 1),
    "Connections/Subscription.swift": (.short, 1),
    "Connections/Views/SharedContent.swift": (.noted, 3),
    "Connections/Views/ViewIntent.swift": (.passed, 2),
    "Connections/Views/ViewProperty.swift": (.noted, 4),
    "Connections/WorkSubscription.swift": (.short, 1),
    "EventLoop/Background.swift": (.passed, 2),
    "EventLoop/Mailbox.swift": (.passed, 1),
    "EventLoop/ManagerQueue.swift": (.short, 1),
    "EventLoop/SocketListener.swift": (.short, 1),
    "EventLoop/Timer.swift": (.passed, 1),
    "EventSourcing/DiskWatch.swift": (.short, 3),
    "EventSourcing/Ledger.swift": (.passed, 1),
    "EventSourcing/PolledValue.swift": (.passed, 5),
    "EventSourcing/ServiceHost+Durable.swift": (.passed, 2),
    "EventSourcing/ServiceHost+Reading.swift": (.short, 3),
    "EventSourcing/Snapshotting.swift": (.short, 4),
    "EventSourcing/SourceNames.swift": (.short, 1),
    "EventSourcing/StreamMeter.swift": (.noted, 1),
    "EventSourcing/Watchers.swift": (.passed, 3),
    "Features/Bindings/Automation.swift": (.sliced, 1),
    "Features/Bindings/BindingInput.swift": (.sliced, 1),
    "Features/Bindings/BindingRetries.swift": (.short, 1),
    "Features/Bindings/EffectFollowing.swift": (.short, 1),
    "Features/Bindings/LiveBinding.swift": (.short, 5),
    "Features/Bindings/LiveBindings.swift": (.sliced, 6),
    "Features/Bindings/MakeBinding.swift": (.sliced, 2),
    "Features/Bindings/Schedule.swift": (.sliced, 1),
    "Features/Cells/CellView.swift": (.short, 1),
    "Features/Journal/Compaction.swift": (.sliced, 5),
    "Features/Journal/JournalBinder.swift": (.short, 3),
    "Features/Journal/JournalService.swift": (.short, 5),
    "Features/Leases/LeasesService.swift": (.sliced, 9),
    "Features/Locks/LocksBinder.swift": (.short, 2),
    "Features/Locks/LocksService.swift": (.short, 3),
    "Features/Past/TrialRule.swift": (.alone, 1),
    "Features/Past/TryBinder.swift": (.short, 1),
    "Features/Past/UndoBinder.swift": (.short, 2),
    "Features/Past/UndoPlan.swift": (.command, 1),
    "Features/Past/WhyBinder.swift": (.short, 3),
    "Features/Programs/OpenCall.swift": (.short, 1),
    "Features/Programs/Programs.swift": (.short, 2),
    "Features/Readers/ReaderHolders.swift": (.short, 4),
    "Features/Readers/SharedReader.swift": (.sliced, 6),
    "Features/Readers/SubscribeDurable.swift": (.short, 1),
    "Features/Scripts/ScriptService.swift": (.short, 1),
    "Features/Scripts/ScriptTrialsBinder.swift": (.short, 1),
    "Features/Scripts/ScriptsService.swift": (.sliced, 10),
    "Features/System/SystemBinder.swift": (.short, 6),
    "Features/Types/SilenceWatch.swift": (.short, 3),
    "Features/Types/TypesService.swift": (.short, 2),
    "JournalPostgres/Client/HostNames.swift": (.short, 1),
    "JournalPostgres/Client/PostgresDialer.swift": (.short, 2),
    "JournalPostgres/Client/PostgresLink.swift": (.passed, 1),
    "JournalPostgres/Store/LockWatch.swift": (.short, 1),
    "JournalPostgres/Store/PostgresMail.swift": (.short, 1),
    "JournalPostgres/Store/PostgresStore+Lease.swift": (.short, 1),
    "JournalPostgres/Store/PostgresStore+Reading.swift": (.short, 1),
    "JournalPostgres/Store/PostgresStore.swift": (.short, 1),
    "JournalSQLite/SQLiteStore.swift": (.short, 7),
  ]

  /// Returns the number of calls in a source file, without declarations and comments.
  private static func calls(in text: String) -> Int {
    let code = text.split(separator: "\n").filter { !$0.drop { $0 == " " }.hasPrefix("//") }
      .joined(separator: "\n")
    return words.reduce(0) { count, word in
      guard code.contains(word) else { return count }
      return count + code.ranges(of: word).count - code.ranges(of: "func " + word).count
    }
  }

  @Test
  func `each call for work after a request is known, with what limits the work`() throws {
    var found: [String: Int] = [:]
    for target in Self.targets {
      for file in try FileManager.default.subpathsOfDirectory(atPath: sources + target)
      where file.hasSuffix(".swift") {
        let data = FileManager.default.contents(atPath: "\(sources)\(target)/\(file)") ?? Data()
        let count = Self.calls(in: String(decoding: data, as: UTF8.self))
        if count > 0 { found["\(target)/\(file)"] = count }
      }
    }
    #expect(
      found.filter { Self.files[$0.key]?.calls != $0.value }.sorted { $0.key < $1.key }.map {
        "\($0.key): \($0.value) calls, and \(Self.files[$0.key]?.calls ?? 0) are known"
      } == [], "say what limits their work")
    #expect(
      Set(Self.files.keys).subtracting(found.keys).sorted() == [], "they are not called any more")
  }

  @Test
  func `all ways to begin work are counted, and declarations and comments are not`() {
    let text = """
      // host.every(1) {}
      host.every(1) { look() }
      host.progress.observe { _ in }
      changes.observeNext { [self] in receive($0) }
      scheduler.schedule(after: 1) {}
      func schedule(after seconds: Double) {}
      context.atTurnEnd { send() }
      let timer = try Timer(on: loop) { look() }
      let mailbox = try Mailbox<Int>(on: loop) { _ in }
      """
    #expect(Self.calls(in: text) == 7)
  }
}

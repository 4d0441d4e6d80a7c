import API
import BinderDaemon
import Configuration
import Connections
import EventLoop
import EventSourcing
import Wire

#if Apps
  import AppAdapters
  import Apps
  import Binder
#endif

/// Creates the applications: chat, users, threads, people, todo, feeds and search.
///
/// The daemon works without them; a build without the trait `Apps` leaves them out.
func applications(_ parts: ProgramParts) throws -> [Feature] {
  #if Apps
    let (loop, scheduler) = (parts.loop, parts.scheduler)
    let configuration = parts.configuration
    let secrets = CryptSecrets(on: loop)
    let web = CurlClient(
      on: loop, agent: "binderd/\(Release.version)", allowsLocal: configuration.web.allowsLocal,
      mayConnect: { [isOffline = parts.isOffline] in !isOffline && Process.mayUseNetwork })
    let reader = FeedWorker(on: loop)
    let webSearch = WebSearch(configuration.web.search, by: web)
    var rest: [Feature] = []
    let library = try Daemon.feature(parts) { host, catalog in
      let threads = ThreadsService(in: host)
      let users = UsersService(
        in: host, secrets: secrets, account: PasswordFile().user(named:))
      let (presence, chat) = (PresenceService(), ChatService(in: host))
      let sessions = SessionFactory(
        in: host, users: users, presence: presence, chat: chat, on: scheduler)
      let clients = SessionTable(sessions.session) { $0.end() }
      let index = TextIndex([threads.corpus, chat.corpus], on: loop)
      bindPeople(catalog, to: PeopleService(in: host))
      bindTodo(catalog, to: TodoService(in: host))
      let feeds = FeedsService(
        in: host, web: web, reader: reader, schedule: .init(configuration.feeds))
      bindThreads(catalog, to: threads, clients)
      bindUsers(catalog, to: users, clients)
      bindPresence(catalog, to: presence)
      bindChat(catalog, to: chat, clients)
      bindFeeds(catalog, to: feeds)
      bindSearch(
        catalog, to: SearchService([index, webSearch], on: host.scheduler),
        opening: SearchHit.views
      ) { view, hit in
        try openSelected(hit, from: view, clients, threads, chat)
      }
      rest = [
        Feature(
          configure: {
            feeds.schedule = .init($0.feeds)
            web.allowsLocal = $0.web.allowsLocal
            webSearch.address = $0.web.search
          },
          stop: {
            sessions.marks.finish()
            web.close()
            reader.close()
            index.stop()
          }, close: secrets.close
        ) { _ in }
      ]
    }
    return [library] + rest
  #else
    return []
  #endif
}

#if Apps
  extension FeedsService.Schedule {
    /// Creates a schedule from the configuration.
    fileprivate init(_ schedule: FeedSchedule) {
      self.init(interval: Double(schedule.interval), unwatched: schedule.unwatched)
    }
  }
#endif

import Configuration
import Services

extension FeedSchedule {
  init(_ settings: FeedSettings) {
    self.init(interval: Double(settings.interval), unwatched: settings.unwatched)
  }
}

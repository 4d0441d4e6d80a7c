import Configuration
import Features

extension FeedSchedule {
  init(_ settings: FeedSettings) {
    self.init(interval: Double(settings.interval), unwatched: settings.unwatched)
  }
}

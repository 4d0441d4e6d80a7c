package import JSON

/// All threads, by their number.
package struct Threads: ServiceState {
  package private(set) var threads: [Int: DiscussionThread] = [:]

  /// The number of the thread that was started last.
  package private(set) var lastID = 0

  package init() {}

  package static var isCollection: Bool { true }

  package mutating func apply(_ event: ThreadEvent, at place: Place) {
    guard let id = Part(place.stream)?.id else { return }
    switch event {
    case .started(let name, let author, let starter):
      threads[id] = DiscussionThread(
        id: id, name: name, starter: author, starterName: starter)
      lastID = id
    case .renamed(let name): threads[id]?.name = name
    case .posted(let post, let author, let body, let name):
      threads[id]?.posts.append(Post(id: post, author: author, name: name, body: body))
      threads[id]?.lastPost = post
    case .edited(let post, let body): threads[id]?.change(post) { $0.body = body }
    case .deleted(let post):
      if let index = threads[id]?.index(of: post) { threads[id]?.posts.remove(at: index) }
    case .liked(let post, let user): threads[id]?.change(post) { $0.likers.insert(user) }
    case .unliked(let post, let user): threads[id]?.change(post) { $0.likers.remove(user) }
    case .removed: threads[id] = nil
    }
  }

  package mutating func unshare() { threads.reserveCapacity(threads.count) }
}

// What the sources show.
extension Threads {
  package func value(of source: String) -> JSONText? {
    guard let part = Part(source), let thread = threads[part.id] else { return nil }
    guard part.isPosts else { return thread.text }
    return thread.posts.isEmpty ? nil : JSONText(elements: thread.posts.map(\.text))
  }

  package func collection(of source: String) -> SourceCollection? {
    guard let part = Part(source), part.isPosts else { return nil }
    return .list(threads[part.id]?.posts.map(\.text) ?? [])
  }

  package var sources: some Sequence<String> {
    threads.values.lazy.flatMap { thread in
      ["threads/\(thread.id)"] + (thread.posts.isEmpty ? [] : ["threads/\(thread.id)/posts"])
    }
  }

  package static func sources(changedBy event: ThreadEvent, at place: Place) -> [String] {
    let (thread, posts) = (place.stream, place.stream + "/posts")
    return switch event {
    case .started, .renamed: [thread]
    case .posted, .deleted, .removed: [thread, posts]
    case .edited, .liked, .unliked: [posts]
    }
  }

  /// A like tells the count of one post, and nothing else of the thread.
  package func changes(by event: ThreadEvent, at place: Place) -> [SourceChange] {
    let thread = SourceChange(source: place.stream, seq: place.seq, value: nil)
    let before = Part(place.stream).flatMap { threads[$0.id] }
    func posts(_ step: CollectionChange?) -> [SourceChange] {
      step.map { [SourceChange(source: place.stream + "/posts", seq: place.seq, step: $0)] } ?? []
    }
    func merge(_ post: Int, _ text: (Post) -> String) -> [SourceChange] {
      posts(
        before?.index(of: post).flatMap { index in
          (before?.posts[index]).map { .merge(at: index, JSONText(kept: text($0))) }
        })
    }
    switch event {
    case .started, .renamed: return [thread]
    case .posted(let post, let author, let body, let name):
      let new = Post(id: post, author: author, name: name, body: body)
      return [thread] + posts(before.map { .insert(at: $0.posts.count, new.text) })
    case .deleted(let post):
      return [thread] + posts(before?.index(of: post).map { .remove(at: $0) })
    case .edited(let post, let body):
      return merge(post) { _ in #"{"body":\#(JSONText(string: body).text)}"# }
    case .liked(let post, let user):
      return merge(post) { #"{"likes":\#($0.likers.union([user]).count)}"# }
    case .unliked(let post, let user):
      return merge(post) { #"{"likes":\#($0.likers.subtracting([user]).count)}"# }
    case .removed: return [thread] + posts(.reset(JSONText(elements: [])))
    }
  }

  /// What a source shows: a thread, or its posts.
  package struct Part {
    package let id: Int
    package let isPosts: Bool

    /// `nil` for what is no source of threads.
    package init?(_ source: String) {
      let parts = source.split(separator: "/", omittingEmptySubsequences: false)
      guard 2...3 ~= parts.count, parts[0] == "threads", let id = Int(parts[1]), id > 0,
        parts[1] == "\(id)", parts.count == 2 || parts[2] == "posts"
      else { return nil }
      self.id = id
      isPosts = parts.count == 3
    }
  }
}

extension DiscussionThread {
  /// The thread as clients see it, without its posts.
  fileprivate var text: JSONText {
    JSONText(
      kept: #"{"id":\#(id),"name":\#(JSONText(string: name).text),"posts":\#(posts.count)}"#)
  }
}

extension Post {
  /// The post as clients see it.
  fileprivate var text: JSONText {
    let name = name.map { #""name":\#(JSONText(string: $0).text),"# } ?? ""
    return JSONText(
      kept: #"{"id":\#(id),"author":\#(author),\#(name)"body":\#(JSONText(string: body).text),"#
        + #""likes":\#(likes)}"#)
  }
}

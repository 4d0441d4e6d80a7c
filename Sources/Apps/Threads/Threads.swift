package import EventSourcing
package import JSON
package import Model

/// The state of all threads, by id.
package struct Threads: ServiceState, Codable {
  package private(set) var threads: [Int: DiscussionThread] = [:]

  /// The id of the thread started last.
  package private(set) var lastID = 0

  /// The posts of each thread as client JSON.
  ///
  /// Cached, because they are sent more often than they change.
  private var texts: [Int: [JSONText]] = [:]

  private enum CodingKeys: String, CodingKey {
    case threads, lastID
  }

  package init() {}

  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    threads = try container.decode([Int: DiscussionThread].self, forKey: .threads)
    lastID = try container.decode(Int.self, forKey: .lastID)
    texts = threads.mapValues { $0.posts.map(\.text) }
  }

  package static var isCollection: Bool { true }

  package mutating func apply(_ event: ThreadEvent, at place: EventContext) {
    guard let id = Part(place.stream)?.id else { return }
    switch event {
    case .started(let name, let author, let starter):
      threads[id] = DiscussionThread(
        id: id, name: name, starter: author, starterName: starter)
      lastID = id
    case .renamed(let name): threads[id]?.name = name
    case .posted(let post, let author, let body, let name):
      guard threads[id] != nil else { break }
      let post = Post(id: post, author: author, name: name, body: body)
      threads[id]?.posts.append(post)
      threads[id]?.lastPost = post.id
      texts[id, default: []].append(post.text)
    case .edited(let post, let body): change(post, of: id) { $0.body = body }
    case .postRemoved(let post):
      guard let index = threads[id]?.index(of: post) else { break }
      threads[id]?.posts.remove(at: index)
      texts[id]?.remove(at: index)
    case .liked(let post, let user): change(post, of: id) { $0.likers.insert(user) }
    case .unliked(let post, let user): change(post, of: id) { $0.likers.remove(user) }
    case .removed: (threads[id], texts[id]) = (nil, nil)
    }
  }

  private mutating func change(_ post: Int, of id: Int, _ body: (inout Post) -> Void) {
    guard let index = threads[id]?.index(of: post) else { return }
    threads[id]?.change(at: index, body)
    if let text = threads[id]?.posts[index].text { texts[id]?[index] = text }
  }

  /// The data that undoes an event of a thread.
  package enum Inverse {
    case event(ThreadEvent)

    /// Removes the last post and restores the id of the one before.
    case unposted(thread: Int, lastPost: Int)
    case reinserted(Post, at: Int, thread: Int)
  }

  /// Starting and removing a thread have no inverse.
  package func inverse(of event: ThreadEvent, in stream: Stream) -> Inverse? {
    guard let id = Part(stream.name)?.id, let thread = threads[id] else { return nil }
    func post(_ id: Int) -> Post? { thread.index(of: id).map { thread.posts[$0] } }
    switch event {
    case .started, .removed: return nil
    case .renamed: return .event(.renamed(name: thread.name))
    case .posted: return .unposted(thread: id, lastPost: thread.lastPost)
    case .edited(let id, _): return post(id).map { .event(.edited(post: id, body: $0.body)) }
    case .postRemoved(let post):
      return thread.index(of: post).map { .reinserted(thread.posts[$0], at: $0, thread: id) }
    case .liked(let id, let user):
      return post(id)?.likers.contains(user) == false ? .event(.unliked(post: id, by: user)) : nil
    case .unliked(let id, let user):
      return post(id)?.likers.contains(user) == true ? .event(.liked(post: id, by: user)) : nil
    }
  }

  package mutating func revert(_ inverse: Inverse, at place: EventContext) {
    switch inverse {
    case .event(let event): apply(event, at: place)
    case .unposted(let id, let lastPost):
      _ = threads[id]?.posts.popLast()
      _ = texts[id]?.popLast()
      threads[id]?.lastPost = lastPost
    case .reinserted(let post, let index, let id):
      threads[id]?.posts.insert(post, at: index)
      texts[id]?.insert(post.text, at: index)
    }
  }

  package func size(of stream: Stream) -> Int {
    Part(stream.name).flatMap { threads[$0.id] }?.size ?? 0
  }

  package func growth(by event: ThreadEvent, in stream: Stream) -> Int? {
    let thread = Part(stream.name).flatMap { threads[$0.id] }
    func post(_ id: Int) -> Post? { thread?.index(of: id).flatMap { thread?.posts[$0] } }
    switch event {
    case .started(let name, _, _): return name.utf8.count
    case .renamed(let name): return name.utf8.count - (thread?.name.utf8.count ?? 0)
    case .posted(let id, let author, let body, let name):
      return Post(id: id, author: author, name: name, body: body).size
    case .edited(let id, let body):
      guard var edited = post(id) else { return 0 }
      let before = edited.size
      edited.body = body
      return edited.size - before
    case .postRemoved(let id): return -(post(id)?.size ?? 0)
    case .liked(let id, let user):
      return post(id)?.likers.contains(user) == false ? Post.likeSize : 0
    case .unliked(let id, let user):
      return post(id)?.likers.contains(user) == true ? -Post.likeSize : 0
    case .removed: return -(thread?.size ?? 0)
    }
  }

  // `reserveCapacity` copies a dictionary if its storage is shared.
  package mutating func makeUnique() {
    threads.reserveCapacity(threads.count)
    texts.reserveCapacity(texts.count)
  }
}

// Sources.
extension Threads {
  package func value(of source: String) -> JSONText? {
    guard let part = Part(source), let thread = threads[part.id] else { return nil }
    guard part.isPosts else { return thread.text }
    return texts[part.id].flatMap { $0.isEmpty ? nil : JSONText(elements: $0) }
  }

  package func collection(of source: String) -> SourceCollection? {
    guard let part = Part(source), part.isPosts else { return nil }
    return .list(texts[part.id] ?? [])
  }

  package func isEmpty(collection source: String) -> Bool {
    Part(source).flatMap { threads[$0.id] }?.posts.isEmpty ?? true
  }

  package func has(_ source: String) -> Bool {
    guard let part = Part(source), let thread = threads[part.id] else { return false }
    return !part.isPosts || !thread.posts.isEmpty
  }

  package var sources: some Sequence<String> {
    threads.values.lazy.flatMap { thread in
      ["threads/\(thread.id)"] + (thread.posts.isEmpty ? [] : ["threads/\(thread.id)/posts"])
    }
  }

  package static func sources(changedBy event: ThreadEvent, at place: EventContext) -> [String] {
    let (thread, posts) = (place.stream, place.stream + "/posts")
    return switch event {
    case .started, .renamed: [thread]
    case .posted, .postRemoved, .removed: [thread, posts]
    case .edited, .liked, .unliked: [posts]
    }
  }

  /// Returns the changes by an event; a like changes only the count of one post.
  package func changes(by event: ThreadEvent, at place: EventContext) -> [SourceChange] {
    let thread = SourceChange(source: place.stream, seq: place.seq, value: nil)
    let before = Part(place.stream).flatMap { threads[$0.id] }
    func posts(_ step: CollectionChange?) -> [SourceChange] {
      step.map { [SourceChange(source: place.stream + "/posts", seq: place.seq, step: $0)] } ?? []
    }
    func merge(_ post: Int, _ text: (Post) -> String) -> [SourceChange] {
      posts(
        before?.index(of: post).flatMap { index in
          (before?.posts[index]).map { .merge(at: index, JSONText(trusted: text($0))) }
        })
    }
    switch event {
    case .started, .renamed: return [thread]
    case .posted(let post, let author, let body, let name):
      let new = Post(id: post, author: author, name: name, body: body)
      return [thread] + posts(before.map { .insert(at: $0.posts.count, new.text) })
    case .postRemoved(let post):
      return [thread] + posts(before?.index(of: post).map { .remove(at: $0) })
    case .edited(let post, let body):
      return merge(post) { _ in #"{"body":\#(JSONText(string: body).text)}"# }
    case .liked(let post, let user):
      return merge(post) { #"{"likes":\#($0.likes + ($0.likers.contains(user) ? 0 : 1))}"# }
    case .unliked(let post, let user):
      return merge(post) { #"{"likes":\#($0.likes - ($0.likers.contains(user) ? 1 : 0))}"# }
    case .removed: return [thread] + posts(.reset(JSONText(elements: [])))
    }
  }

  /// A parsed source: a thread or its posts.
  package struct Part {
    package let id: Int
    package let isPosts: Bool

    /// Parses a source name; returns `nil` if it is not a source of threads.
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
  /// The JSON that clients receive, without posts.
  fileprivate var text: JSONText {
    JSONText(
      trusted: #"{"id":\#(id),"name":\#(JSONText(string: name).text),"posts":\#(posts.count)}"#)
  }
}

extension DiscussionThread {
  /// See ``ServiceState/size(of:)``.
  fileprivate var size: Int { posts.reduce(name.utf8.count) { $0 + $1.size } }
}

extension Post {
  fileprivate static let likeSize = 16

  /// The size in bytes; the body counts twice, because the client JSON contains a copy.
  fileprivate var size: Int {
    128 + 2 * (body.utf8.count + (name?.utf8.count ?? 0)) + Self.likeSize * likes
  }

  /// The JSON that clients receive.
  fileprivate var text: JSONText {
    let name = name.map { #""name":\#(JSONText(string: $0).text),"# } ?? ""
    return JSONText(
      trusted: #"{"id":\#(id),"author":\#(author),\#(name)"body":\#(JSONText(string: body).text),"#
        + #""likes":\#(likes)}"#)
  }
}

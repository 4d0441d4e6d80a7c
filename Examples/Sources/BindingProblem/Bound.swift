import SignalsDialects

// Handling mismatching types: the same model, dynamic.

final class Thread {
  let name: Dynamic<String>
  let posts: DynamicArray<Post>

  init(name: String, posts: [Post]) {
    self.name = Dynamic(name)
    self.posts = DynamicArray(posts)
  }
}

final class Post {
  let body: Dynamic<String>
  let likeCount: Dynamic<Int>

  init(_ body: String, likeCount: Int = 0) {
    self.body = Dynamic(body)
    self.likeCount = Dynamic(likeCount)
  }
}

/// It binds in place of assigning.
final class BindingViewController: UITableViewDataSource {
  var thread: Thread
  var threadView = ThreadView()

  init(thread: Thread) { self.thread = thread }

  func viewDidLoad() {
    thread.name ->> threadView.nameLabel
    threadView.postsTableView.dataSource = self
  }

  var numberOfRows: Int { thread.posts.count }

  func cell(forRow row: Int) -> PostCell {
    let cell = PostCell()
    let post = thread.posts[row]

    post.body ->> cell.bodyTextView
    post.likeCount.map { "\($0)" } ->> cell.likeCountLabel

    return cell
  }
}

// Arrays are special: the table follows each change of the posts.

final class ThreadViewController {
  var thread: Thread
  var threadView = ThreadView()

  init(thread: Thread) { self.thread = thread }

  func viewDidLoad() {
    thread.name ->> threadView.nameLabel
    thread.posts.map { (post: Post) -> PostCell in
      let cell = PostCell()

      post.body ->> cell.bodyTextView
      post.likeCount.map { "\($0)" } ->> cell.likeCountLabel

      return cell
    } ->> threadView.postsTableView
  }
}

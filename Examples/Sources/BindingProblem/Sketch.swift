// "Solving the Binding Problem with Swift": first the static model, then the sketch that the
// document develops. The library's `Dynamic` and `Bond` are used in the other files.

/// Problem analysis: each value is assigned once.
enum Static {
  final class Thread {
    var name: String
    var posts: [Post]

    init(name: String, posts: [Post]) {
      self.name = name
      self.posts = posts
    }
  }

  final class Post {
    var body: String
    var likeCount: Int

    init(body: String, likeCount: Int) {
      self.body = body
      self.likeCount = likeCount
    }
  }

  final class ThreadViewController: UITableViewDataSource {
    var thread: Thread
    var threadView = ThreadView()

    init(thread: Thread) { self.thread = thread }

    func viewDidLoad() {
      threadView.nameLabel.text = thread.name
      threadView.postsTableView.dataSource = self
    }

    var numberOfRows: Int { thread.posts.count }

    func cell(forRow row: Int) -> PostCell {
      let cell = PostCell()
      let post = thread.posts[row]

      cell.bodyTextView.text = post.body
      cell.likeCountLabel.text = "\(post.likeCount)"

      return cell
    }
  }
}

/// A Swift solution: a value that is wrapped in an object, and a task that is wrapped in another.
enum Sketch {
  typealias Listener<T> = (T) -> Void

  final class Dynamic<T> {
    var value: T {
      didSet {
        for bondBox in bonds {
          bondBox.bond?.listener(value)
        }
      }
    }

    var bonds: [BondBox<T>] = []

    init(_ v: T) {
      value = v
    }
  }

  final class BondBox<T> {
    weak var bond: Bond<T>?

    init(_ b: Bond<T>) { bond = b }
  }

  final class Bond<T> {
    var listener: Listener<T>

    init(_ listener: @escaping Listener<T>) {
      self.listener = listener
    }

    func bind(_ dynamic: Dynamic<T>) {
      dynamic.bonds.append(BondBox(self))
    }
  }
}

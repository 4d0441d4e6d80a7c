import SignalsDialects

// Problem analysis
let staticThread = Static.Thread(
  name: "Cats", posts: [Static.Post(body: "Meow", likeCount: 1)])
let staticController = Static.ThreadViewController(thread: staticThread)
staticController.viewDidLoad()
staticThread.name = "Dogs"
print(
  "assigned: \(staticController.threadView.nameLabel.text)",
  staticController.threadView.postsTableView.rows)

// A Swift solution
let sketched = Sketch.Dynamic("Cats")
let sketchedBond = Sketch.Bond<String> { print("sketch: \($0)") }
sketchedBond.bind(sketched)
sketched.value = "Dogs"

let nameLabel = UILabel()
var name: Dynamic<String> = Dynamic("")
name.value = "Steve"
let nameBond = Bond { [unowned nameLabel] (name: String) in nameLabel.text = name }
nameBond.bind(name)
print("bond: \(nameLabel.text)")

// Brushing it up
let (second, third, fourth) = (UILabel(), UILabel(), UILabel())
second.textBond.bind(name)
name ->> third.textBond
name ->> fourth
name.value = "Jim"
print("operator: \([second, third, fourth].map(\.text))")

// Handling mismatching types
let likeCount: Dynamic<Int> = Dynamic(1)
let (likeCountLabel, otherLabel) = (UILabel(), UILabel())
map(likeCount) { "\($0)" } ->> likeCountLabel
likeCount.map { "\($0)" } ->> otherLabel
likeCount.value = 2
print("likes: \(likeCountLabel.text) \(otherLabel.text)")

let thread = Thread(name: "Cats", posts: [Post("Meow", likeCount: 1)])
let bound = BindingViewController(thread: thread)
bound.viewDidLoad()
thread.name.value = "Dogs"
print("bound: \(bound.threadView.nameLabel.text)", bound.threadView.postsTableView.rows)

// Arrays are special
let posts = DynamicArray<Post>(["a", "b", "c", "d"].map { Post($0) })
let myBond = ArrayBond<Post>()

myBond.insertListener = { indices in
  print("Inserted posts at indices \(indices)")
}

myBond.updateListener = { indices in
  print("Updated posts at indices \(indices)")
}

posts ->> myBond

posts.insert(Post("new"), atIndex: 0)
posts[4] = Post("other")

let controller = ThreadViewController(thread: thread)
controller.viewDidLoad()
thread.posts.insert(Post("Woof"), atIndex: 0)
thread.posts[0].likeCount.value = 3
print(controller.threadView.postsTableView.rows, controller.threadView.postsTableView.changes)

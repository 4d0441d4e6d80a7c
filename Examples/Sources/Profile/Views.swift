import Signals

// Views without a screen: what UIKit offers to the example of the Binder Architecture.

class View: DisposeBagProvider, ReactiveExtensionsProvider {
  let bag = DisposeBag()
}

final class Label: View {
  var text = ""
}

final class Button: View {
  let taps = PassthroughSubject<Void, Never>()
}

final class Cell: View {
  let nameLabel = Label()
}

final class CollectionView: View, LoadingStateListener {
  var cells: [Cell] = []
  private(set) var isSpinning = false

  func setLoadingState<Value, Failure>(_ state: ObservedLoadingState<Value, Failure>) {
    isSpinning = state.isLoading
  }
}

final class ProfileViewController: View {
  let nameLabel = Label()
  let friendsView = CollectionView()
  let logoutButton = Button()
}

extension ReactiveExtensions where Base == Button {
  var tap: SafeSignal<Void> { base.taps.toSignal() }
}

extension SignalProtocol where Error == Never {
  /// Shows a cell for each element.
  func bind<Item>(
    to view: CollectionView, configure: @escaping (Cell, Item) -> Void
  ) where Element == [Item] {
    bind(to: view) { view, items in
      view.cells = items.map { item in
        let cell = Cell()
        configure(cell, item)
        return cell
      }
    }
  }
}

# Programs outside this package use its public libraries.

setup_file() { swift build --package-path "$BATS_TEST_DIRNAME/../../Examples"; }

setup() { examples=$BATS_TEST_DIRNAME/../../Examples/.build/debug; }

@test "the examples build from the public API alone, and run" {
    run "$examples/Profile"
    [ "$output" = $'profile of Ana\nfriends: loading\nfriends: Ben, Cy\nlogged in: false' ]
    run "$examples/Temperature"
    [ "$output" = $'68.0 °F, 77.0 °F\nc c\n2 lines\n3 lines\n3 lines at the end' ]
}

@test "the Binder Architecture: services, views, binders and navigation" {
    run "$examples/BinderArchitecture"
    diff - <(echo "$output") <<'END'
Ana, ana.png
loading: true
loading: false, friends: Ben
Ben is a friend
presented: true
pushed: Ben, Ana
Log out: true
logged in: false
empty: true
END
}

@test "Model View Binding: a search with a model, a view and one binding" {
    run "$examples/ModelViewBinding"
    diff - <(echo "$output") <<'END'
rows: []
rows: ["abba I", "abba II"]
selected abba II
rows: []
rows: ["queen I", "queen II"]
chosen queen I
END
}

@test "the README of BIND: bindings by paths, transformers, view models" {
    run "$examples/BINDForSwift"
    diff - <(echo "$output") <<'END'
Kim 1
miK
Kim
Hobbit
speed 1
observed Kim
KIM
observed Hobbit
passed Hobbit
HOBBIT hobbit
image none
image image of a.png
~>: left left
<~: right right
<>: left left
!~>: left right
<~!: left right
<!>: left right
Kim
observed Kim
passed Kim
observed Cartman
passed Cartman
Cartman
pressed
["PersonNameViewModel"] 1
Kyle
Kyle 1
Kyle
END
}

@test "Solving the Binding Problem: values, bonds and arrays" {
    run "$examples/BindingProblem"
    diff - <(echo "$output") <<'END'
assigned: Cats ["Meow (1)"]
sketch: Dogs
bond: Steve
operator: ["Jim", "Jim", "Jim"]
likes: 2 2
bound: Dogs ["Meow (1)"]
Inserted posts at indices [0]
Updated posts at indices [4]
["Woof (3)", "Meow (1)"] ["showed 1", "inserted [0]"]
END
}

@test "the Binder Architecture with a fetch for each appearance" {
    run "$examples/BinderPodcasts"
    diff - <(echo "$output") <<'END'
requests: 1, rows: []
podcasts: 2, rows: []
rows: ["Swift", "Unix"]
requests: 2, rows: ["Swift", "Unix"]
END
}

@test "Model View Binding in its own words: the names of RxSwift" {
    run "$examples/RxSearchy"
    diff - <(echo "$output") <<'END'
rows: []
rows: ["abba I", "abba II"]
selected abba II
rows: []
after the error: []
rows: ["queen I", "queen II"]
chosen queen I
END
}

@test "Binder Architecture with RxSwift in its own words" {
    run "$examples/RxPodcasts"
    diff - <(echo "$output") <<'END'
requests: 2, rows: []
podcasts: 2, rows: []
rows: ["Swift", "Unix"]
Unhandled error: parsingError
Unhandled error: parsingError
Unhandled error: serverError
Unhandled error: serverError
requests: 4, rows: ["Swift", "Unix"]
END
}

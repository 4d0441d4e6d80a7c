# bindctl generate writes typed calls that compilers accept, with which they refuse wrong types, and that work.

load support

setup() {
    root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    clients=$root/Protocol/clients
    make_place
    start_daemon
    cd "$directory"
}

teardown() {
    cd /
    remove_place
}

# What each program prints: a sum, a map, and why adding to a word was rejected.
wanted=$'visits 5\napp {"port":8080}\nrejected not_a_number'

@test "typed calls in Python" {
    bindctl generate python > services.py
    cat > main.py <<'END'
import asyncio
import json

import binder
from services import CellsService, MapsService

async def main() -> None:
    async with await binder.connect(name="generated") as client:
        cells = CellsService(client)
        await cells.add("visits", by=2)
        total: float = (await cells.add("visits", by=3)).get("value", 0)
        print("visits", total)
        await MapsService(client).put("app", "port", 8080)
        print("app", json.dumps(await client.get("maps/app"), separators=(",", ":")))
        await cells.set("word", "a")
        try:
            await cells.add("word")
        except binder.DaemonError as error:
            print(error.name, error.data["reason"])

asyncio.run(main())
END
    export MYPYPATH=$clients/python/src PYTHONPATH=$clients/python/src PYTHONDONTWRITEBYTECODE=1
    mypy --strict --cache-dir mypy services.py main.py
    is "$(/usr/bin/python3 main.py)" "$wanted"
    sed -i 's/by=2/by="2"/' main.py
    run mypy --strict --cache-dir mypy main.py
    [[ "$output" = *'"by" to "add" of "CellsService" has incompatible type "str"'* ]]
}

@test "typed calls in TypeScript" {
    mkdir node_modules
    ln -s "$clients/javascript" node_modules/binder
    bindctl generate typescript > services.mts
    cat > main.mts <<'END'
import { connect, DaemonError } from "binder";
import { unixSocket } from "binder/unix";
import { CellsService, MapsService } from "./services.mjs";

const client = await connect(unixSocket(), { name: "generated" });
const cells = new CellsService(client);
await cells.add({ name: "visits", by: 2 });
const total: number | undefined = (await cells.add({ name: "visits", by: 3 })).value;
console.log("visits", total);
await new MapsService(client).put({ name: "app", key: "port", value: 8080 });
console.log("app", JSON.stringify(await client.get("maps/app")));
await cells.set({ name: "word", value: "a" });
try {
  await cells.add({ name: "word" });
} catch (error) {
  if (error instanceof DaemonError) console.log(error.name, error.data["reason"]);
}
client.close();
END
    compile() { tsc --strict --target es2022 --lib es2022,dom --module node16 main.mts; }
    sed 's/^/# /' <(compile)
    is "$(node main.mjs)" "$wanted"
    sed -i 's/by: 2/by: "2"/' main.mts
    run compile
    [[ "$output" = *"Type 'string' is not assignable to type 'number'"* ]]
}

# The modules are those of the driver that the conformance test of Swift builds.
@test "typed calls in Swift" {
    local built=$root/.build/conformance/debug module objects=()
    "$clients/conformance/run" --only 'nothing but the build' swift > "$directory/tap"
    for module in BinderAsync BinderClient Model JSON Wire; do objects+=("$built/$module.build"/*.o); done
    bindctl generate swift > Services.swift
    cat > main.swift <<'END'
import BinderAsync

let client = AsyncBinderClient(name: "generated")
let cells = CellsService(client)
try await cells.add(name: "visits", by: 2)
let total: Double? = try await cells.add(name: "visits", by: 3).value
print("visits", Int(total ?? 0))
try await MapsService(client).put(name: "app", key: "port", value: .number(JSONNumber(8080)))
print("app", try await client.get("maps/app")?.text.text ?? "")
try await cells.set(name: "word", value: .string("a"))
do {
  try await cells.add(name: "word")
} catch ClientError.refused(let error) {
  if case .string(let reason)? = error.data["reason"] { print(error.name.rawValue, reason) }
}
END
    compile() { swiftc -swift-version 6 -warnings-as-errors -I "$built/Modules" Services.swift main.swift "$@"; }
    compile "${objects[@]}" -o main
    is "$(./main)" "$wanted"
    sed -i 's/by: 2/by: "2"/' main.swift
    run compile -typecheck
    [[ "$output" = *"cannot convert value of type 'String' to expected argument type 'Double'"* ]]
}

@test "sources with declared types have names and types" {
    bindctl describe cells/mode --set 'string, one of day night, "Mode"'
    bindctl describe lists/jobs --set string
    bindctl describe 'cells/*/celsius' --set number
    bindctl describe 'lists/*' --set string
    bindctl generate python cells lists > services.py
    printf '%s\n' 'from services import CellsCelsius, CellsMode, ListsJobs, Sources' 'hot: CellsCelsius = 40.5' 'mode: CellsMode = "day"' 'jobs: ListsJobs = ["a"]' \
        'print(Sources.CELLS_MODE, mode, Sources.LISTS_JOBS, jobs, Sources.cells_celsius("hall"), hot)' > main.py
    export MYPYPATH=$clients/python/src PYTHONPATH=$clients/python/src PYTHONDONTWRITEBYTECODE=1
    mypy --strict --cache-dir mypy services.py main.py
    is "$(/usr/bin/python3 main.py)" "cells/mode day lists/jobs ['a'] cells/hall/celsius 40.5"
    sed -i 's/"day"/"dusk"/' main.py
    run mypy --strict --cache-dir mypy main.py
    [[ $output == *'main.py:3: error: Incompatible types in assignment'* ]]
    sed -i 's/"hall"/7/' main.py
    run mypy --strict --cache-dir mypy main.py
    [[ $output == *'Argument 1 to "cells_celsius" of "Sources" has incompatible type "int"'* ]]
    mkdir node_modules
    ln -s "$clients/javascript" node_modules/binder
    bindctl generate typescript cells > services.mts
    printf '%s\n' 'import { type CellsCelsius, SourceNames } from "./services.mjs";' 'const hot: CellsCelsius = 40.5;' \
        'console.log(SourceNames.cellsCelsius("hall"), hot);' > main.mts
    tsc --strict --target es2022 --lib es2022,dom --module node16 main.mts
    is "$(node main.mjs)" 'cells/hall/celsius 40.5'
    bindctl generate typescript cells | grep -qxF '  "cells/mode": "day" | "night";'
    run ! grep -q LISTS_JOBS <(bindctl generate python cells)
}

@test "generate refuses what it cannot write" {
    run --separate-stderr bindctl generate cobol
    is "$status $stderr" "2 bindctl: unknown LANGUAGE 'cobol' (python or typescript or swift); see 'bindctl help generate'"
    run --separate-stderr bindctl generate python cell
    is "$status" 4
    [[ "$stderr" = *"did you mean 'cells'"* ]]
    is "$(bindctl generate python cells maps | grep '^class .*Service')" $'class CellsService:\nclass MapsService:'
}

// Checks that the type declarations declare what the modules export. Runs in the directory of the client.

import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

for (const name of ["binder", "unix", "websocket"]) {
  const declared = readFileSync(`${name}.d.ts`, "utf8").matchAll(/^export (?:class|function) (\w+)/gm);
  const wanted = [...declared].map((match) => match[1]).sort().join();
  const found = Object.keys(await import(pathToFileURL(`${name}.js`))).sort().join();
  if (found !== wanted) throw new Error(`${name}: exports ${found}, declares ${wanted}`);
}

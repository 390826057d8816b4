#!/usr/bin/env node
// Starts the belay that npm has installed for this system.
'use strict';

const { spawn } = require('child_process');
const path = require('path');

const id = `${process.platform}-${process.arch}`;
const name = process.platform === 'win32' ? 'belay.exe' : 'belay';
let belay;
try {
  belay = path.join(path.dirname(require.resolve(`[[ .Scope ]]/${id}/package.json`)), 'bin', name);
} catch {
  console.error(`belay: npm has installed no belay for ${id}. Install with optional dependencies, or see [[ .Homepage ]]`);
  process.exit(125);
}

// Signals of the terminal reach belay by itself; those that are sent to this process are passed on.
const child = spawn(belay, process.argv.slice(2), { stdio: 'inherit', windowsHide: true });
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT']) {
  process.on(signal, () => { if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal); });
}
child.on('error', (error) => {
  console.error(`belay: ${belay} could not be started: ${error.message}`);
  process.exit(125);
});
child.on('exit', (code, signal) => {
  if (signal === null) process.exit(code);
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT']) process.removeAllListeners(name);
  process.kill(process.pid, signal);
});

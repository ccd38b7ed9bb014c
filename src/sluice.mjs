#!/usr/bin/env node
// `sluice`: brings the build of a clone up to date, then runs it. An installed package is built, and has no
// prepare.mjs.
import { existsSync } from 'node:fs';

const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(`sluice: Node ${process.versions.node} is too old; install Node 20.19 or later`);
  process.exit(1);
}

if (existsSync(new URL('prepare.mjs', import.meta.url))) await import('./prepare.mjs');
await import('../dist/main.js');

#!/usr/bin/env node
// `sluice` in a clone: brings the build up to date, then runs it.
import './prepare.mjs';

await import('../dist/main.js');

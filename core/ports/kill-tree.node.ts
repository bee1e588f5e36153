import { type ChildProcess, spawn } from 'node:child_process';
import { killTreeWith } from './kill-tree.ts';

/** Ends a child of this process and everything that it started: see `killTreeWith`. */
export function killTree(child: ChildProcess, signal: NodeJS.Signals): void {
  const { platform, env } = process;
  killTreeWith({ platform, env, signal: process.kill, run }, child, signal);
}

function run(file: string, args: readonly string[], ended: (isDone: boolean) => void): void {
  const child = spawn(file, [...args], { stdio: 'ignore', windowsHide: true });
  child.on('error', () => ended(false));
  child.on('exit', (code) => ended(code === 0));
}

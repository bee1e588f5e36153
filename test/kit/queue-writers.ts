import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** How a writer in another language appends: open, flock, one write a line, unlock (inbox and gates 2). */
const PYTHON = `
import fcntl, json, os, sys, time
path, name, count, pause = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
for i in range(count):
    fd = os.open(path, os.O_APPEND | os.O_CREAT | os.O_WRONLY, 0o644)
    fcntl.flock(fd, fcntl.LOCK_EX)
    line = {"type": "nudge", "content": "%s %d" % (name, i), "timestamp": 1700000000000}
    os.write(fd, (json.dumps(line) + "\\n").encode())
    fcntl.flock(fd, fcntl.LOCK_UN)
    os.close(fd)
    if pause: time.sleep(pause)
`;

/** Keeps its descriptor open all the time, as a long-lived writer does. */
const C = `
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>
int main(int argc, char **argv) {
  int count = argc > 3 ? atoi(argv[3]) : 0;
  useconds_t pause = argc > 4 ? (useconds_t)(atof(argv[4]) * 1e6) : 0;
  int fd = open(argv[1], O_APPEND | O_CREAT | O_WRONLY, 0644);
  if (fd < 0) return 2;
  for (int i = 0; i < count; i++) {
    char line[256];
    int n = snprintf(line, sizeof line,
      "{\\"id\\":\\"%s-%d\\",\\"type\\":\\"event\\",\\"source\\":\\"c\\",\\"content\\":\\"%s %d\\",\\"priority\\":1}\\n", argv[2], i, argv[2], i);
    if (flock(fd, LOCK_EX) != 0) return 3;
    if (write(fd, line, (size_t)n) != n) return 4;
    if (flock(fd, LOCK_UN) != 0) return 5;
    if (pause) usleep(pause);
  }
  return 0;
}
`;

const has = (command: string): boolean => spawnSync(command, ['--version']).status === 0;
export const noPython = has('python3') ? null : 'python3 is missing: apt-get install python3';
export const noCompiler = has('cc') ? null : 'cc is missing: apt-get install gcc libc6-dev';

/** Compiles the writer into a directory. */
export function compiledWriter(dir: string): string {
  const [source, program] = [join(dir, 'writer.c'), join(dir, 'writer')];
  writeFileSync(source, C);
  execFileSync('cc', ['-O1', '-o', program, source], { stdio: ['ignore', 'inherit', 'inherit'] });
  return program;
}

export interface Writing {
  readonly path: string;
  /** Its lines say `NAME 0`, `NAME 1` and so on. */
  readonly name: string;
  readonly count: number;
  /** Between two lines. Default 0. */
  readonly pauseSeconds?: number;
}

/** @param program the compiled writer; null: Python */
export function startWriter(program: string | null, { path, name, count, pauseSeconds = 0 }: Writing): ChildProcess {
  const args = [path, name, `${count}`, `${pauseSeconds}`];
  const stdio = ['ignore', 'inherit', 'inherit'] as const;
  return program === null
    ? spawn('python3', ['-c', PYTHON, ...args], { stdio: [...stdio] })
    : spawn(program, args, { stdio: [...stdio] });
}

/** Resolves when it ended as it should. */
export async function done(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  if (child.exitCode !== 0) throw new Error(`a writer ended with ${child.exitCode ?? child.signalCode}`);
}

export function listWritten({ name, count }: Pick<Writing, 'name' | 'count'>): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${name} ${index}`);
}

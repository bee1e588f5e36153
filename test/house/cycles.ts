import type { SourceFile } from './source-file.ts';

/** Groups of files that import each other in a circle, types included; each in the order of its paths. */
export function findCycles(files: readonly SourceFile[]): readonly (readonly string[])[] {
  const targets = new Map(files.map(({ path, imports }) => [path, imports.flatMap(({ target }) => target ?? [])]));
  const cycles: string[][] = [];
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const stack: string[] = [];

  /** Tarjan's search: a file whose lowest reachable number is its own closes a group. */
  function visit(path: string): number {
    const number = order.size;
    order.set(path, number);
    lowest.set(path, number);
    stack.push(path);
    for (const target of targets.get(path) ?? []) {
      if (!targets.has(target)) continue;
      const seen = order.get(target);
      if (seen === undefined) lower(path, visit(target));
      else if (stack.includes(target)) lower(path, seen);
    }
    if (lowest.get(path) === number) {
      const group = stack.splice(stack.indexOf(path));
      if (group.length > 1) cycles.push(group.sort());
    }
    return lowest.get(path) ?? number;
  }

  function lower(path: string, number: number): void {
    lowest.set(path, Math.min(lowest.get(path) ?? number, number));
  }

  for (const { path } of files) if (!order.has(path)) visit(path);
  return cycles;
}

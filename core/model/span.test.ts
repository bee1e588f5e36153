import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { findSpan, mergeSpans, type Span } from './known-set.ts';

const spans: fc.Arbitrary<Span[]> = fc.array(
  fc
    .tuple(fc.integer({ min: 0, max: 40 }), fc.integer({ min: 0, max: 6 }))
    .map(([from, more]) => ({ from, to: from + more })),
);

test('merged spans hold the same numbers, ascending, and none touches the next', () => {
  fc.assert(
    fc.property(spans, (given) => {
      const all = mergeSpans(given);
      for (let n = 0; n <= 50; n += 1) {
        const isIn = given.some(({ from, to }) => from <= n && n <= to);
        const span = findSpan(all, n);
        assert.equal(span !== null, isIn);
        assert.ok(span === null || (span.from <= n && n <= span.to));
      }
      for (const [i, span] of all.slice(1).entries()) assert.ok(span.from > (all[i]?.to ?? 0) + 1);
    }),
  );
});

import type { FastifyInstance } from 'fastify';
import type { Loops } from './health-routes.ts';
import { type Metric, type ProcessFigures, type ReaderFigures, toMetrics } from './metrics.ts';
import type { StatusWire } from './wire.ts';

/**
 * `GET /metrics` for Prometheus. The library formats the text and escapes untrusted names. It is loaded with the first request,
 * and without its collectors, so it sets no timer.
 */
export function registerMetricsRoute(
  app: FastifyInstance,
  options: {
    readonly status: () => StatusWire;
    readonly loops: Loops;
    readonly sources: () => readonly Metric[];
    readonly readers: () => ReaderFigures;
  },
): void {
  app.get('/metrics', async (_request, reply) => {
    const write = await loadWriter();
    const { loops, sources, readers, status } = options;
    // after the library is loaded, so that the numbers are those of this moment
    const metrics = toMetrics({
      status: status(),
      tally: loops.tally,
      readers: readers(),
      figures: readProcessFigures(),
    });
    const { type, text } = await write([...metrics, ...sources()]);
    return reply.type(type).send(text);
  });
}

async function loadWriter(): Promise<(metrics: readonly Metric[]) => Promise<{ type: string; text: string }>> {
  const [{ default: Registry }, { default: Gauge }, { default: Counter }] = await Promise.all([
    import('prom-client/lib/registry.js'),
    import('prom-client/lib/gauge.js'),
    import('prom-client/lib/counter.js'),
  ]);
  return async (metrics) => {
    const registry = new Registry();
    for (const { name, help, type, samples } of metrics) {
      const labelNames = Object.keys(samples[0]?.labels ?? {});
      const configuration = { name, help, labelNames, registers: [registry] };
      if (type === 'gauge') {
        const gauge = new Gauge(configuration);
        for (const { labels, value } of samples) gauge.set(labels, value);
      } else {
        const counter = new Counter(configuration);
        for (const { labels, value } of samples) counter.inc(labels, value);
      }
    }
    return { type: registry.contentType, text: await registry.metrics() };
  };
}

function readProcessFigures(): ProcessFigures {
  const { rss, heapUsed } = process.memoryUsage();
  const { user, system } = process.cpuUsage();
  return {
    node: process.version,
    startedAtSeconds: (Date.now() - process.uptime() * 1000) / 1000,
    cpuSeconds: (user + system) / 1e6,
    residentBytes: rss,
    heapUsedBytes: heapUsed,
  };
}

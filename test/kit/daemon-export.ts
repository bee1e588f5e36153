const CLASSES = [
  ...['ws_connect_failed', 'ws_stream_stalled', 'pending_reconcile_failed', 'surface_unavailable'],
  ...['surface_inject_failed', 'ipc_bind_failed', 'ipc_auth_failed', 'heartbeat_publish_failed'],
  ...['config_invalid', 'unclassified'],
];

export interface ExportFigures {
  readonly depth?: number;
  readonly heartbeatAge?: number;
  readonly drainAge?: number;
  /** Of each class. */
  readonly errors?: number;
}

/** The text that a daemon exports by the contract, written down here once more and not by its writer. */
export function createExport(
  tenant: string,
  identity: string,
  { depth = 0, heartbeatAge = 3, drainAge = 12.5, errors = 0 }: ExportFigures = {},
): string {
  const labels = `tenant_id="${tenant}",agent_identity="${identity}",agent_surface="claude-code",machine_id="cafe01"`;
  const formatMetric = (name: string, type: string, value: number): string =>
    `# HELP ${name} What it is.\n# TYPE ${name} ${type}\n${name}{${labels}} ${value}\n`;
  const each = (name: string, type: string, value: number): string =>
    `# HELP ${name} What it is.\n# TYPE ${name} ${type}\n${CLASSES.map((errorClass) => `${name}{${labels},error_class="${errorClass}"} ${value}\n`).join('')}`;
  return [
    formatMetric('daemon_up', 'gauge', 1),
    formatMetric('daemon_heartbeat_age_seconds', 'gauge', heartbeatAge),
    formatMetric('daemon_drain_age_seconds', 'gauge', drainAge),
    formatMetric('daemon_signal_queue_depth', 'gauge', depth),
    each('daemon_errors_total', 'counter', errors),
    each('daemon_last_error_timestamp_seconds', 'gauge', errors === 0 ? 0 : 1_800_000_000),
  ].join('');
}

/** The name of this source, and the id of its one hive. */
export const DAEMON_SOURCE = 'daemon';
export const DAEMON_PREFIX = 'daemon-';

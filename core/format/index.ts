export { formatClockTime, formatFullTime, formatSilence } from './clock-time.node.ts';
export { formatCount, formatList, formatRest, formatUtcTime } from './count.ts';
export { displayJson, displayLine, displayName, displayText, stripUnseen } from './display-name.ts';
export { computeMsUntilDurationChanges, formatDuration } from './duration.ts';

export {
  findFailureText,
  findWaitText,
  formatAgentState,
  formatFolder,
  formatStateReason,
  formatWaiting,
} from './agent-text.ts';
export { formatClockTime, formatFullTime, formatLogTime, formatSilence } from './clock-time.node.ts';
export { formatDefaultChoice } from './default-choice.ts';
export { displayJson, displayLine, displayName, displayText, stripUnseen } from './display-name.ts';
export { countAsked, formatAsked, formatNeeds, type NeedCounts } from './headline.ts';
export {
  compareNeeds,
  computeNeedLevel,
  NEED_LEVELS,
  type Need,
  type NeedFacts,
  type NeedLevel,
  sortByNeed,
} from './need.ts';
export {
  computeMsUntilDurationChanges,
  formatCount,
  formatDuration,
  formatList,
  formatQuantity,
  formatRest,
  formatUtcTime,
} from './quantity.ts';
export { formatShare } from './share.ts';

import { FAULTS, type Fault, type FaultCode } from '../model/index.ts';

/** Our own words for faults whose message may quote foreign text, because every local user can read the history on loopback. */
const OWN_WORDS: Partial<Record<FaultCode, string>> = {
  'not-json': 'the answer is not JSON',
  'exec-failed': 'the command failed',
  internal: 'an error that was not foreseen',
};

const LONGEST = 500;

/** Formats why an alert was raised, and the next step, as one line without text of mail. */
export function formatAlertMessage(fault: Fault): string {
  const own = OWN_WORDS[fault.code];
  const text = own === undefined ? fault.explain() : `${own}: ${FAULTS[fault.code].next}`;
  const line = text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ').toWellFormed();
  return line.length <= LONGEST ? line : `${line.slice(0, LONGEST - 1).toWellFormed()}…`;
}

import { OLDEST_NODE } from '../oldest-node.ts';

const [MAJOR, MINOR] = OLDEST_NODE;

/** A text for `node -e`, which ends with 0 on a Node that runs this: in words that any Node parses, without a quote or a percent sign. */
export const IS_NEW_NODE = `var n = process.versions.node.split(/[.]/); process.exit(n[0] > ${MAJOR} || (n[0] == ${MAJOR} && n[1] >= ${MINOR}) ? 0 : 1)`;

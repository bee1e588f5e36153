import { OLDEST_NODE } from '../oldest-node.ts';

const [MAJOR, MINOR] = OLDEST_NODE;

/**
 * A text for `node -e`, which ends with 0 on a Node that can run this program. Every Node can parse it, and it has no quote and
 * no percent sign.
 */
export const IS_NEW_NODE = `var n = process.versions.node.split(/[.]/); process.exit(n[0] > ${MAJOR} || (n[0] == ${MAJOR} && n[1] >= ${MINOR}) ? 0 : 1)`;

export type { Click, Opener, Opens, OpenUrl } from './opener.ts';
export { isOurPage, pageOpener } from './page-opener.ts';
export { urlOpener } from './url-opener.node.ts';

import { hasToken } from './token.ts';

/** Creates a button that asks the person for the token, in the page's usual way. */
export function createTokenButton(needToken: () => void): HTMLButtonElement {
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = hasToken() ? 'Enter another token' : 'Enter the token';
  button.addEventListener('click', needToken);
  return button;
}

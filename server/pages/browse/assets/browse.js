// Makes the pages more convenient if scripts run; everything also works without them. The script fetches nothing, and
// inserts texts as text, not as markup.

/** Announces actions to screen readers. */
const heard = document.createElement('div');
heard.className = 'unseen';
heard.setAttribute('role', 'status');
document.body.append(heard);

for (const block of document.querySelectorAll('[data-copy]')) addCopy(block);
for (const form of document.querySelectorAll('form[data-filter]')) heedField(form);

/**
 * Adds a button that copies the text of a block. While the button shows a result, that text is
 * also its accessible name.
 */
function addCopy(block) {
  const code = block.querySelector('code, span');
  if (!isSecureContext || !code) return;
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'copy';
  const rest = () => {
    heard.textContent = '';
    button.textContent = 'Copy';
    button.setAttribute('aria-label', `Copy ${block.dataset.copy}`);
  };
  const tell = (text) => {
    heard.textContent = text;
    button.textContent = text;
    button.removeAttribute('aria-label');
    setTimeout(rest, 2000);
  };
  rest();
  const choose = () => {
    getSelection()?.selectAllChildren(code);
    tell('Press Ctrl+C');
  };
  button.addEventListener('click', () => {
    navigator.clipboard.writeText(code.textContent).then(() => tell('Copied'), choose);
  });
  block.append(button);
}

/** Keeps only the comparisons that fit the selected field, and adapts the input to its values. */
function heedField(form) {
  const [field, lookup] = form.querySelectorAll('select');
  const input = form.querySelector('input:not([type="hidden"]):not([type="checkbox"])');
  if (!field || !lookup || !input?.list) return;
  const all = [...lookup.options];
  const choices = input.list;
  const hint = document.createElement('p');
  hint.className = 'hint';
  field.closest('label').after(hint);
  const heed = () => {
    const { type = '', set = '', values = '', sentence = '' } = field.selectedOptions[0]?.dataset ?? {};
    const fit = all.filter(({ dataset }) => dataset.sets.split(' ').includes(set));
    const chosen = fit.find(({ selected }) => selected) ?? fit[0];
    lookup.replaceChildren(...fit);
    if (chosen) chosen.selected = true;
    hint.textContent = sentence;
    choices.replaceChildren(
      ...(lookup.value === 'isnull' ? 'true false' : values)
        .split(' ')
        .filter(Boolean)
        .map((value) => new Option(value, value)),
    );
    shape(input, type, lookup.value);
  };
  field.addEventListener('change', heed);
  lookup.addEventListener('change', heed);
  heed();
}

/**
 * Sets the type of the input for a comparison, and keeps its value. Numbers use a text input, because numeric keypads
 * often have no minus sign.
 */
function shape(input, type, lookup) {
  const isSingle = ['exact', 'gt', 'gte', 'lt', 'lte', 'date'].includes(lookup);
  const isDate = lookup === 'date' || (isSingle && (type === 'date' || type === 'dateTime'));
  input.type = isDate && /^(\d{4}-\d\d-\d\d)?$/.test(input.value) ? 'date' : 'text';
}

// Finds texts that people read outside `src/messages`: `node strings.mjs`. Every text belongs into the messages file of its
// screen, so that all can be reviewed in one sitting and translated. It looks at text between tags, at the attributes that
// show or speak a text, and at any other string that reads like one: words with spaces, or a capital in front.
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const SPOKEN = /^(title|label|aria-label|placeholder|description|says|message|alt|legend|closeButtonLabel|nothingFoundMessage)$/;
const STYLE = /^(key|to|href|className|style|size|variant|color|c|w|h|src|id|type|role|autoComplete|locale)$/;
const PROPERTIES = /^(id|key|queryKey|style|border|borderBottom|color|colour|fontFamily|value)$/;
// Calls whose strings are for the machine: requests, comparisons, look-ups.
const CALLS = /\.(GET|POST|PUT|PATCH|DELETE|includes|startsWith|endsWith|split|join|replaceAll|getElementById|querySelector|setProperty|addEventListener)$|^import$|^t(\.rich)?$/;

// What reads like a text and is none, by reason.
const ALLOWED = new Set([
  // proper names, the same in every language
  ..."Cadenza Bluesky Discord Facebook Instagram LinkedIn Mastodon Slack Telegram Threads Webhook X InMails".split(" "),
  ..."Edg Edge OPR Opera Firefox Chrome Safari Windows Android Linux".split(" "),
  "Mac OS X",
  "UTC",
  "HTML",
  "SMTP",
  // keys of a keyboard
  ..."Escape Enter ArrowUp ArrowDown".split(" "),
  // codes of the server
  "needs copy",
  "needs media",
  // defects, for developers
  "index.html has no #root",
  "this screen belongs to a workspace",
  "no file",
]);
// Ids of the calendar's events: nobody reads them on the screen.
const ALLOWED_STARTS = ["`free ${", "`clocks ${"];

const source = fileURLToPath(new URL("src/", import.meta.url));
const files = readdirSync(source, { recursive: true }).filter(
  (name) => /\.tsx?$/.test(name) && !/\.test\.|schema\.d\.ts$/.test(name) && !/^(test|messages)[\\/]/.test(name),
);
const found = files.flatMap(look);
for (const each of found) console.error(each);
if (found.length > 0) {
  console.error(`${found.length} texts outside src/messages: move them into their screen's file, or say in strings.mjs why not`);
  process.exit(1);
}

function look(name) {
  const file = ts.createSourceFile(name, readFileSync(source + name, "utf8"), ts.ScriptTarget.Latest, true, name.endsWith("x") ? ts.ScriptKind.TSX : ts.ScriptKind.TS);
  const texts = [];
  visit(file);
  return texts;

  function visit(node) {
    if (ts.isImportDeclaration(node) || ts.isTypeNode(node)) return;
    if (isText(node)) {
      const { line } = file.getLineAndCharacterOfPosition(node.getStart());
      texts.push(`src/${name}:${line + 1}: ${node.getText().trim()}`);
      return;
    }
    ts.forEachChild(node, visit);
  }
}

function isText(node) {
  if (ts.isJsxText(node)) return /[A-Za-z]{2}/.test(node.text) && !ALLOWED.has(node.text.trim());
  if (ts.isTemplateExpression(node)) return !isForMachine(node) && isProse(wordsOf(node)) && !ALLOWED_STARTS.some((start) => node.getText().startsWith(start));
  if (!ts.isStringLiteral(node) && !ts.isNoSubstitutionTemplateLiteral(node)) return false;
  if (ALLOWED.has(node.text) || /^https?:|\dpx |var\(|sans-serif/.test(node.text)) return false;
  if (ts.isJsxAttribute(node.parent)) return SPOKEN.test(node.parent.name.getText()) && /[A-Za-z]{2}/.test(node.text);
  return !isForMachine(node) && isProse(node.text);
}

/** The words of a template, an ellipsis for each part that is computed. */
function wordsOf(template) {
  return [template.head.text, ...template.templateSpans.map(({ literal }) => literal.text)].join("…");
}

function isProse(text) {
  return !/^[\w-]*[/?#]|:\/\/|var\(/.test(text) && (/^[A-Z][a-z]+(?![A-Za-z]*[A-Z])/.test(text) || /[A-Za-z]{2}[,;:.]? [A-Za-z]|… [a-z]{2,}|[a-z]{2,} …/.test(text));
}

function isForMachine(node) {
  const { parent } = node;
  if (ts.isElementAccessExpression(parent) || ts.isCaseClause(parent)) return true;
  if (ts.isPropertyAssignment(parent) && (parent.name === node || PROPERTIES.test(parent.name.getText()))) return true;
  if (ts.isBinaryExpression(parent) && /^[!=]==$/.test(parent.operatorToken.getText())) return true;
  if (ts.isCallExpression(parent) && CALLS.test(parent.expression.getText())) return true;
  for (let at = parent; at !== undefined && !ts.isBlock(at) && !ts.isArrowFunction(at); at = at.parent) {
    if (ts.isJsxAttribute(at)) return STYLE.test(at.name.getText());
    if (ts.isPropertyAssignment(at) && /^(queryKey|style)$/.test(at.name.getText())) return true;
  }
  return false;
}

"""Which strings are secrets: the rules, as data. `masking.py` carries them out.

A rule is tried only where one of its literals stands, so a text without any costs one fast search per
literal (and only over its long words, for the rules of TOKENS). The pattern is matched from the literal's
first character on. Three things keep the cost linear, also for text that was made to be slow: a pattern
starts at a literal, its repeats are bounded or cannot be given back, and a long run of token characters
is entered at its start only (the look-behinds).

Patterns spell out their characters and never name a class of Unicode, whose tables differ between
versions of Python: a read model must not.
"""

from __future__ import annotations

import msgspec


class Rule(msgspec.Struct, frozen=True):
    """One shape of secret.

    kind      what the marker says: `[REDACTED:kind]`.
    literals  lower case, of ASCII. The text is searched without regard to case; the pattern decides.
    pattern   the group `secret` is masked, or the whole match where there is no such group.
    check     what else must hold, a key of `masking.CHECKS`.
    look      what the pattern takes longer to see, a key of `masking.LOOKS`: mostly it is not even compiled.
    """

    kind: str
    literals: tuple[str, ...]
    pattern: str
    check: str = ""
    look: str = ""


_START = r"(?<![A-Za-z0-9])"
_END = r"(?![A-Za-z0-9])"

# The last word of a name that holds a secret. `key` needs a word before it: `key` alone is any key.
_WORD = (
    r"(?P<word>pass(?:word|wd|phrase|wort|code)?|pwd|secret|token|credentials?|_auth|"
    r"(?:(?<=api)|(?<=api[_. -])|(?<=access)|(?<=access[_-])|(?<=private)|(?<=private[_-])|(?<=secret)|"
    r"(?<=secret[_-])|(?<=account)|(?<=account[_-])|(?<=auth)|(?<=auth[_-])|(?<=signing[_-])|"
    r"(?<=encryption[_-])|(?<=master[_-])|(?<=service[_-])|(?<=license[_-])|(?<=webhook[_-]))key)"
    r"(?:[_-]?(?:prod|production|staging|stage|dev|test|live|value|[0-9]{1,2}))?(?![A-Za-z0-9_])"
)
_VALUE = (
    r"[bru]?(?:(?P<quote>\\?[\"'`])(?P<secret>(?:(?!(?P=quote))[^\n\r]){1,256})(?P=quote)|"
    r"\\?[\"'`]?(?P<bare>[^\s\"'`,;&|<>(){}\[\]\\=]{1,256}={0,2}))"
)
_SEPARATOR = (
    r":=|=>|=(?!=)|:[ ]?[A-Za-z_][A-Za-z0-9_.\[\]|]{0,30}[ ]?=(?!=)|:(?!:)|(?<=[ \t])(?:is|was|to)(?=[ \t])"
)
_AWS_ID = r"(?<![A-Za-z0-9+/=])(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9+/=])"
_PEM_TEXT = r"[^-]*+(?:-(?!----)[^-]*+)*+"  # up to the next five dashes
_PEM_LAST_LINE = r"(?:(?:\r?\n|\\n)[A-Za-z0-9+/=]{1,15}(?=[ \t]{0,8}(?:[\r\n\\\"']|\Z)))?"
_PEM_LINES = r"(?:[A-Za-z-]{1,32}: [^\n]{0,200}\n)*+(?:[\s\\nr\"'>+|,]*+[A-Za-z0-9+/=]{16,}+)++"

TOKENS = (
    Rule("private-key", ("age-secret-key-1",), rf"{_START}AGE-SECRET-KEY-1[A-Z0-9]{{50,70}}{_END}"),
    Rule(
        "github",
        ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
        rf"{_START}gh[pousr]_[A-Za-z0-9_]{{20,}}+(?:\.[A-Za-z0-9_-]{{16,}}+){{0,2}}",
        "given",
    ),
    Rule("github", ("github_pat_",), rf"{_START}github_pat_[A-Za-z0-9_]{{22,}}+", "given"),
    Rule(
        "gitlab",
        ("glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glsoat-", "glagent-", "gloas-"),
        rf"{_START}gl[a-z]{{2,5}}-[A-Za-z0-9_=-]{{16,}}+(?:\.[0-9a-z]{{2,16}}){{0,2}}",
        "given",
    ),
    Rule(
        "slack",
        ("xoxa-", "xoxb-", "xoxe-", "xoxp-", "xoxr-", "xoxs-"),
        rf"{_START}xox[a-z]-[A-Za-z0-9-]{{12,}}+",
        "mixed",
    ),
    Rule("slack", ("xapp-",), rf"{_START}xapp-[0-9]-[A-Za-z0-9-]{{10,}}+", "given"),
    Rule(
        "slack",
        ("hooks.slack.com/",),
        r"hooks\.slack\.com/[a-z]{4,12}/(?P<secret>[A-Za-z0-9/_-]{20,}+)",
        "mixed",
    ),
    Rule("aws-id", ("akia", "asia"), rf"{_AWS_ID}", "given"),
    Rule("anthropic", ("sk-ant-",), rf"{_START}sk-ant-[A-Za-z0-9_-]{{16,}}+", "mixed"),
    Rule("openai", ("sk-",), rf"{_START}sk-(?!ant-)[A-Za-z0-9_-]{{20,}}+", "mixed"),
    Rule("google", ("aiza",), rf"{_START}AIza[A-Za-z0-9_-]{{30,}}+", "given"),
    Rule("google", ("ya29.", "gocspx-"), rf"{_START}(?:ya29\.|GOCSPX-)[A-Za-z0-9_-]{{20,}}+", "given"),
    Rule(
        "jwt",
        ("eyj",),
        r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]{8,}+(?:\.[A-Za-z0-9_-]*+){1,3}",
    ),
    Rule("npm", ("npm_",), rf"{_START}npm_[A-Za-z0-9]{{30,}}+", "given"),
    Rule("pypi", ("pypi-",), rf"{_START}pypi-[A-Za-z0-9_-]{{40,}}+", "given"),
    Rule(
        "stripe",
        ("sk_live_", "sk_test_", "rk_live_", "rk_test_"),
        rf"{_START}[sr]k_(?:live|test)_[A-Za-z0-9]{{16,}}+",
        "given",
    ),
    Rule("stripe", ("whsec_",), rf"{_START}whsec_[A-Za-z0-9+/=]{{20,}}+", "given"),
    Rule("hugging-face", ("hf_",), rf"{_START}hf_[A-Za-z0-9]{{30,}}+", "given"),
    Rule("xai", ("xai-",), rf"{_START}xai-[A-Za-z0-9]{{32,}}+", "mixed"),
    Rule("groq", ("gsk_",), rf"{_START}gsk_[A-Za-z0-9]{{32,}}+", "given"),
    Rule("sendgrid", ("sg.",), rf"{_START}SG\.[A-Za-z0-9_-]{{16,32}}\.[A-Za-z0-9_-]{{32,}}+", "given"),
    Rule("digitalocean", ("dop_v1_", "doo_v1_", "dor_v1_"), rf"{_START}do[opr]_v1_[a-f0-9]{{64}}"),
    Rule("shopify", ("shpat_", "shpss_"), rf"{_START}shp[a-z]{{2}}_[a-fA-F0-9]{{32}}{_END}"),
    Rule("vault", ("hvs.", "hvb."), rf"{_START}hv[bs]\.[A-Za-z0-9_-]{{24,}}+", "mixed"),
    Rule("docker", ("dckr_pat_",), rf"{_START}dckr_pat_[A-Za-z0-9_-]{{20,}}+", "given"),
    Rule("linear", ("lin_api_",), rf"{_START}lin_api_[A-Za-z0-9]{{32,}}+", "given"),
    Rule("notion", ("ntn_",), rf"{_START}ntn_[A-Za-z0-9]{{40,}}+", "given"),
    Rule("telegram", (":aa",), r"(?<=[0-9]{8}):AA[A-Za-z0-9_-]{32,36}(?![A-Za-z0-9_-])", "mixed"),
    Rule(
        "signature",
        ("sig=", "signature="),
        r"(?i:sig|signature)=(?P<secret>[A-Za-z0-9%+/_=-]{32,}+)",
        "mixed",
    ),
)
"""Secrets that show by their own shape: one word of at least SHORTEST_TOKEN characters."""

SHORTEST_TOKEN = 16

PHRASES = (
    Rule(
        "private-key",
        ("-----begin ",),
        r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----"
        rf"(?:{_PEM_TEXT}-----END [^-\n]{{0,60}}-----|\s*+{_PEM_LINES}{_PEM_LAST_LINE})",
    ),
    Rule(
        "aws-secret",  # the pair as it is pasted: the id, and its secret close behind
        ("akia", "asia"),
        rf"{_AWS_ID}[^\0]{{1,120}}?(?<![A-Za-z0-9+/])(?P<secret>[A-Za-z0-9+/]{{40}})(?![A-Za-z0-9+/=])",
        "mixed",
    ),
    Rule(
        "aws-secret",
        ("secret",),
        r"(?i:secret[_-]?access[_-]?key)\\?[\"'`]?[ \t]{0,8}[:=]>?[ \t]{0,8}\\?[\"'`]?"
        r"(?P<secret>[A-Za-z0-9+/]{40})(?![A-Za-z0-9+/=])",
        "mixed",
    ),
    Rule(
        "url-password",
        ("://",),
        r"://[^\s:@/?#\"'<>`\[\]]{0,128}:(?P<secret>[^\s/\"'<>`]{1,256})@(?=[A-Za-z0-9\[_$%{])",
        "url",
    ),
    Rule("url-password", ("://",), r"://(?P<secret>[A-Za-z0-9_-]{20,}+)@(?=[A-Za-z0-9])", "mixed"),
    Rule(
        "authorization",
        ("authorization",),
        r"(?i:authorization)\\?[\"'`]?\]?\s{0,4}[:=,]\s{0,4}[bfru]?\\?[\"'`]?"
        r"(?i:bearer|basic|token|digest|negotiate|bot|apikey|key)[ \t]{1,4}(?P<secret>[A-Za-z0-9._~+/=-]{6,}+)",
        "encoded",
    ),
    Rule(
        "authorization",
        ("authorization",),
        r"(?i:authorization)\\?[\"'`]?\]?\s{0,4}[:=]\s{0,4}\\?[\"'`]?(?P<secret>[A-Za-z0-9._~+/=-]{12,}+)",
        "credential",
    ),
    Rule(
        "authorization",
        ("bearer ",),
        rf"{_START}(?i:bearer) {{1,4}}(?P<secret>[A-Za-z0-9._~+/=-]{{16,}}+)",
        "credential",
    ),
    Rule(
        "authorization",
        ("basic ",),
        rf"{_START}(?i:basic) {{1,4}}(?P<secret>[A-Za-z0-9+/]{{12,}}+={{0,2}})",
        "base64",
    ),
    Rule(
        "authorization",
        ("curl ",),
        r"(?i:curl) [^\n]{0,200}?(?<=\s)(?:-u|--user)[ =]{0,2}[\"']?[^\s:\"'$]{1,64}:(?P<secret>[^\s\"']{3,256})",
        "given",
    ),
    Rule(
        "cookie",
        ("cookie:",),
        r"(?i:cookie): {0,4}(?P<secret>[A-Za-z0-9_.-]{1,64}=[^\s\"'`]{16,1024}"
        r"(?: [A-Za-z0-9_.-]{1,64}=[^\s\"'`]{1,1024}){0,32})",
        "mixed",
    ),
    Rule(
        "assigned",  # NAME = VALUE, "name": "value", the password is VALUE; the kind is the name's
        ("pass", "pwd", "secret", "token", "key", "credential", "_auth"),
        rf"(?i:{_WORD})\\?[\"'`]?\]?[ \t]{{0,8}}(?P<separator>{_SEPARATOR})[ \t]{{0,8}}{_VALUE}",
        "assigned",
        "assigned",
    ),
    Rule(
        "assigned",  # --password VALUE
        ("--",),
        rf"(?<![^\s\"'`])--(?:[a-z]{{1,16}}-){{0,4}}(?i:{_WORD})(?P<separator> ){_VALUE}",
        "option",
        "option",
    ),
)
"""Secrets that show by what stands around them."""

_GENERIC = r"(?:password|passwd|passwort|passphrase|passcode|pass|pwd|secret|token|key|credentials?)"
_OWNER = r"(?:your|my|the|some|fake|dummy|sample|example|test|new|old|user|db)"
_USE = r"(?:api|access|auth|secret|private|bearer|client|session|refresh|id)"
_NOTHING = (
    r"(?:none|null|nil|undefined|true|false|yes|no|on|off|str|string|bytes|int|bool|any|object|optional|required|"
    r"secretstr|empty|missing|unset|hidden|invalid|expired|todo|tbd|n/?a|example|dummy|sample|test|env|prompt|auto)"
)
PLACEHOLDERS = (
    r"[xX*•.…_#?0-]+",
    r"(?i:(?:your|my|the|some|a|an|insert|enter|put|add|replace|set|fake|dummy|sample|example)[-_. ].*)",
    rf"(?i:{_OWNER}?[-_. ]?{_USE}?[-_. ]?(?:{_GENERIC}|value|string)[-_. ]?[0-9]{{0,2}})",
    rf"(?i:{_NOTHING})",
)
"""Whole values that only say where a secret goes."""

PLACEHOLDER_PARTS = (
    r"(?i:xxxx|\.\.\.|…|\*\*\*|placeholder|redacted|changeme|change[-_]me|replace[-_]me|[-_]here\Z)",
    r"EXAMPLE(?:KEY)?\Z",
)
"""What no real value has anywhere in it."""

REFERENCES = (
    r"\$.*",
    r"%[A-Za-z_][A-Za-z0-9_]*%.*",
    r"%[sdr]",
    r"[{<\[(].*",
    r"(?:process\.env|os\.environ|os\.getenv|import\.meta\.env|env|ENV|secrets|vars|config|settings|self|this)[.\[(:].*",
    r"(?=.{1,40}\Z)!?[A-Za-z_$][A-Za-z0-9_$]*(?:(?:\.|\?\.|::|->)[A-Za-z_$][A-Za-z0-9_$]*)+[!;]?",  # user.password
    r"(?:~|\.{1,2})?/(?:[A-Za-z0-9_. -]+/)*[A-Za-z0-9_. -]*",  # a path
    r"[A-Za-z]:\\.*",
    r"(?:op|vault|ssm|secretsmanager|file|https?|arn|env):.*",
)
"""Whole values that say where the secret is kept."""

REFERENCE_PARTS = (r"[$#{]\{|\$\(",)
"""What shows anywhere in a value that something is filled in."""

NAMES = (
    r"(?i:(?:sha|md|base|utf|argon|aes|hmac|pbkdf|rsa|ed|oauth|http|ipv?|v)-?[0-9]{1,5}[A-Za-z]*(?:[-_/.].*)?)",
    r"[A-Za-z]+[0-9]{0,2}(?:_[A-Za-z]*[0-9]{0,2})+",  # snake_case
    r"(?i:[a-z]*(?:password|passwd|secret|token|key|credentials?|pwd)[a-z]*[0-9]{0,2})",  # authToken2
    r"(?i:[0-9]{1,5}(?:\.[0-9]+)?(?:k|m|b|s|ms|h|d|px|kb|mb|%)?[.,)]?)",
    r"[^A-Za-z0-9]+",
)
"""Whole values that are no secret when they stand without quotes: variables, algorithms, sizes."""

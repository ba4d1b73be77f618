//! Kinds of tokens and the token itself.
//!
//! Kinds 1 to 23 have the numbers and the names of PostgreSQL's default parser, so that a configuration
//! made for it maps the same kinds here; 24 to 26 are this parser's own. The numbers are stored in
//! `pg_ts_config_map` of every database: they never change, and a new kind takes a new number.

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum TokenKind {
    /// Word of ASCII letters only.
    AsciiWord = 1,
    /// Word of letters of any script that is not Han.
    Word = 2,
    /// Word of letters and digits.
    NumWord = 3,
    /// E-mail address.
    Email = 4,
    /// Address on a host: host and path, without the protocol.
    Url = 5,
    /// Host name; also any dotted name such as `Node.js`.
    Host = 6,
    /// Number in scientific notation.
    SFloat = 7,
    /// Number with two or more points.
    Version = 8,
    /// Part of a hyphenated word: letters and digits.
    HwordNumPart = 9,
    /// Part of a hyphenated word: letters.
    HwordPart = 10,
    /// Part of a hyphenated word: ASCII letters.
    HwordAsciiPart = 11,
    /// Blanks, punctuation and symbols between tokens.
    Blank = 12,
    /// XML tag.
    Tag = 13,
    /// Head of an address, `https://`.
    Protocol = 14,
    /// Hyphenated word with digits.
    NumHword = 15,
    /// Hyphenated word of ASCII letters.
    AsciiHword = 16,
    /// Hyphenated word of letters.
    Hword = 17,
    /// Path part of an address.
    UrlPath = 18,
    /// File or path name.
    File = 19,
    /// Decimal number.
    Float = 20,
    /// Whole number with a sign.
    Int = 21,
    /// Whole number without a sign.
    Uint = 22,
    /// XML entity.
    Entity = 23,
    /// Word of Han characters.
    Han = 24,
    /// Compound no other kind covers: `snake_case`, `C++`, dates, part numbers.
    Identifier = 25,
    /// One emoji with its modifiers.
    Emoji = 26,
}

impl TokenKind {
    /// Every kind, by number.
    pub const ALL: [TokenKind; 26] = [
        TokenKind::AsciiWord,
        TokenKind::Word,
        TokenKind::NumWord,
        TokenKind::Email,
        TokenKind::Url,
        TokenKind::Host,
        TokenKind::SFloat,
        TokenKind::Version,
        TokenKind::HwordNumPart,
        TokenKind::HwordPart,
        TokenKind::HwordAsciiPart,
        TokenKind::Blank,
        TokenKind::Tag,
        TokenKind::Protocol,
        TokenKind::NumHword,
        TokenKind::AsciiHword,
        TokenKind::Hword,
        TokenKind::UrlPath,
        TokenKind::File,
        TokenKind::Float,
        TokenKind::Int,
        TokenKind::Uint,
        TokenKind::Entity,
        TokenKind::Han,
        TokenKind::Identifier,
        TokenKind::Emoji,
    ];

    /// The kind's number, as `pg_ts_config_map` stores it.
    pub const fn number(self) -> u8 {
        self as u8
    }

    /// The kind's name, as `alter text search configuration … for <name>` takes it.
    pub const fn name(self) -> &'static str {
        match self {
            TokenKind::AsciiWord => "asciiword",
            TokenKind::Word => "word",
            TokenKind::NumWord => "numword",
            TokenKind::Email => "email",
            TokenKind::Url => "url",
            TokenKind::Host => "host",
            TokenKind::SFloat => "sfloat",
            TokenKind::Version => "version",
            TokenKind::HwordNumPart => "hword_numpart",
            TokenKind::HwordPart => "hword_part",
            TokenKind::HwordAsciiPart => "hword_asciipart",
            TokenKind::Blank => "blank",
            TokenKind::Tag => "tag",
            TokenKind::Protocol => "protocol",
            TokenKind::NumHword => "numhword",
            TokenKind::AsciiHword => "asciihword",
            TokenKind::Hword => "hword",
            TokenKind::UrlPath => "url_path",
            TokenKind::File => "file",
            TokenKind::Float => "float",
            TokenKind::Int => "int",
            TokenKind::Uint => "uint",
            TokenKind::Entity => "entity",
            TokenKind::Han => "han",
            TokenKind::Identifier => "identifier",
            TokenKind::Emoji => "emoji",
        }
    }

    /// One line for `ts_token_type`.
    pub const fn description(self) -> &'static str {
        match self {
            TokenKind::AsciiWord => "Word, all ASCII",
            TokenKind::Word => "Word, all letters",
            TokenKind::NumWord => "Word, letters and digits",
            TokenKind::Email => "Email address",
            TokenKind::Url => "URL",
            TokenKind::Host => "Host",
            TokenKind::SFloat => "Scientific notation",
            TokenKind::Version => "Version number",
            TokenKind::HwordNumPart => "Hyphenated word part, letters and digits",
            TokenKind::HwordPart => "Hyphenated word part, all letters",
            TokenKind::HwordAsciiPart => "Hyphenated word part, all ASCII",
            TokenKind::Blank => "Space symbols",
            TokenKind::Tag => "XML tag",
            TokenKind::Protocol => "Protocol head",
            TokenKind::NumHword => "Hyphenated word, letters and digits",
            TokenKind::AsciiHword => "Hyphenated word, all ASCII",
            TokenKind::Hword => "Hyphenated word, all letters",
            TokenKind::UrlPath => "URL path",
            TokenKind::File => "File or path name",
            TokenKind::Float => "Decimal notation",
            TokenKind::Int => "Signed integer",
            TokenKind::Uint => "Unsigned integer",
            TokenKind::Entity => "XML entity",
            TokenKind::Han => "Word, Han characters",
            TokenKind::Identifier => "Identifier, date or other compound",
            TokenKind::Emoji => "Emoji",
        }
    }
}

/// A token: a kind and the bytes of the text it covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token {
    /// What the token is.
    pub kind: TokenKind,
    /// Offset of its first byte in the text given to the parser.
    pub start: usize,
    /// Offset behind its last byte.
    pub end: usize,
}

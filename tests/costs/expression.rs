//! Values of formulas as they are printed: `2qα+2((p−1)/p)nβ`.
//!
//! What stands side by side is multiplied, before `·` and `/` are: n/2s is n/(2s). `log2`, `log_k`, `√` and `^` apply
//! to the next number, symbol or parenthesis. T(...) is asked for as a symbol with its argument worked out: "T(3)".

/// What symbols are worth.
pub type Symbols<'a> = &'a dyn Fn(&str) -> Option<f64>;

/// Symbols of more than one letter; others are letters by themselves.
const LONG: [&str; 2] = ["t_W", "t_A"];

/// What rounding errors of logarithms must not move over a whole number.
const TINY: f64 = 1e-9;

/// The value of `text`.
///
/// # Errors
/// What is not understood, with all that comes after it.
pub fn value(text: &str, symbols: Symbols) -> Result<f64, String> {
    let mut parser = Parser { rest: text, symbols };
    let value = parser.sum()?;
    if parser.rest.is_empty() { Ok(value) } else { Err(format!("'{}' in '{text}'", parser.rest)) }
}

struct Parser<'a> {
    rest: &'a str,
    symbols: Symbols<'a>,
}

impl Parser<'_> {
    fn takes(&mut self, token: &str) -> bool {
        let rest = self.rest.trim_start().strip_prefix(token);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn expect(&mut self, token: &str) -> Result<(), String> {
        if self.takes(token) { Ok(()) } else { Err(format!("'{}', where {token} is missing", self.rest)) }
    }

    fn sum(&mut self) -> Result<f64, String> {
        let mut sum = self.product()?;
        loop {
            if self.takes("+") {
                sum += self.product()?;
            } else if self.takes("−") {
                sum -= self.product()?;
            } else {
                return Ok(sum);
            }
        }
    }

    fn product(&mut self) -> Result<f64, String> {
        let mut product = self.side_by_side()?;
        loop {
            if self.takes("·") {
                product *= self.side_by_side()?;
            } else if self.takes("/") {
                product /= self.side_by_side()?;
            } else {
                return Ok(product);
            }
        }
    }

    fn side_by_side(&mut self) -> Result<f64, String> {
        let mut product = self.power()?;
        while self.rest.chars().next().is_some_and(|next| next.is_alphanumeric() || "(⌈⌊√".contains(next)) {
            product *= self.power()?;
        }
        Ok(product)
    }

    fn power(&mut self) -> Result<f64, String> {
        let base = self.atom()?;
        if self.takes("²") {
            return Ok(base * base);
        }
        if self.takes("^") { Ok(base.powf(self.atom()?)) } else { Ok(base) }
    }

    fn atom(&mut self) -> Result<f64, String> {
        if self.takes("⌈") {
            let value = self.sum()?;
            self.expect("⌉")?;
            return Ok((value - TINY).ceil());
        }
        if self.takes("⌊") {
            let value = self.sum()?;
            self.expect("⌋")?;
            return Ok((value + TINY).floor());
        }
        if self.takes("(") {
            let value = self.sum()?;
            self.expect(")")?;
            return Ok(value);
        }
        for (name, pick) in [("min(", f64::min as fn(f64, f64) -> f64), ("max(", f64::max)] {
            if self.takes(name) {
                let one = self.sum()?;
                self.expect(",")?;
                let other = self.sum()?;
                self.expect(")")?;
                return Ok(pick(one, other));
            }
        }
        if self.takes("T(") {
            let argument = self.sum()?;
            self.expect(")")?;
            return (self.symbols)(&format!("T({argument})")).ok_or_else(|| "T(m) is not known".to_owned());
        }
        if self.takes("√") {
            return Ok(self.atom()?.sqrt());
        }
        if self.takes("log2") {
            return Ok(self.atom()?.log2());
        }
        if self.takes("log_") {
            let base = self.symbol()?;
            return Ok(self.atom()?.log2() / base.log2());
        }
        self.rest = self.rest.trim_start();
        let digits = self.rest.chars().take_while(char::is_ascii_digit).count();
        if digits > 0 {
            let (number, rest) = self.rest.split_at(digits);
            self.rest = rest;
            return number.parse().map_err(|error| format!("{number}: {error}"));
        }
        self.symbol()
    }

    fn symbol(&mut self) -> Result<f64, String> {
        let first = self.rest.chars().next().map_or(0, char::len_utf8);
        let length = LONG.iter().find(|long| self.rest.starts_with(**long)).map_or(first, |long| long.len());
        let (symbol, rest) = self.rest.split_at(length);
        let value = (self.symbols)(symbol).ok_or_else(|| format!("no symbol is known at '{}'", self.rest))?;
        self.rest = rest;
        Ok(value)
    }
}
